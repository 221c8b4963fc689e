#include "report/json_finding.h"

#include <string.h>

#include "report/demangle.h"
#include "report/key.h"
#include "report/kind.h"
#include "report/occasion.h"
#include "report/paths.h"

static void add_line(struct json *to, const struct gpuleak_frame *frame)
{
	if (frame->line && frame->language == GPULEAK_LANGUAGE_PYTHON)
		json_add_integer(to, "line", frame->line);
	else
		json_add_null(to, "line");
}

static void add_file(struct json *to, const struct snapshot *snapshot,
		     const struct gpuleak_frame *frame)
{
	char path[PATH_SIZE];

	if (frame->language != GPULEAK_LANGUAGE_PYTHON || !frame->file) {
		json_add_null(to, "file");
		return;
	}
	code_file(snapshot, frame, path);
	json_add_string(to, "file", path);
}

static void add_function(struct json *to, const struct snapshot *snapshot,
			 const struct gpuleak_frame *frame)
{
	struct text function = names_text(&snapshot->names, frame->function);
	char name[512];

	if (frame->language == GPULEAK_LANGUAGE_PYTHON)
		json_add_text(to, "function", function);
	else if (demangle(function, name, sizeof(name)))
		json_add_string(to, "function", name);
	else
		json_add_null(to, "function");
}

static void add_native(struct json *to, const struct snapshot *snapshot,
		       const struct gpuleak_frame *frame)
{
	json_add_text(to, "symbol", names_text(&snapshot->names, frame->function));
	json_add_text(to, "module", names_text(&snapshot->names, frame->module));
	json_add_integer(to, "offset", frame->offset);
	json_add_text(to, "build_id", names_text(&snapshot->names, frame->build_id));
}

void json_add_where(struct json *to, const char *name, const struct snapshot *snapshot,
		    const struct gpuleak_frame *frame)
{
	struct json *place;

	if (!frame) {
		json_add_null(to, name);
		return;
	}
	place = json_add_object(to, name);
	add_file(place, snapshot, frame);
	add_line(place, frame);
	add_function(place, snapshot, frame);
	if (frame->language == GPULEAK_LANGUAGE_NATIVE)
		add_native(place, snapshot, frame);
}

static void add_frame(struct json *to, const struct snapshot *snapshot,
		      const struct gpuleak_frame *frame)
{
	struct json *object = json_add_object(to, NULL);
	bool python = frame->language == GPULEAK_LANGUAGE_PYTHON;

	json_add_string(object, "language", python ? "python" : "native");
	add_file(object, snapshot, frame);
	add_line(object, frame);
	add_function(object, snapshot, frame);
	if (!python)
		add_native(object, snapshot, frame);
	else if (frame->qualname)
		json_add_text(object, "qualname", names_text(&snapshot->names, frame->qualname));
}

void json_add_stack(struct json *to, const char *name, const struct snapshot *snapshot,
		    const struct stack *stack)
{
	struct json *frames = json_add_array(to, name);

	for (uint32_t i = 0; i < stack->count; i++) {
		const struct gpuleak_frame *frame = names_frame(&snapshot->names, stack, i);

		if (frame)
			add_frame(frames, snapshot, frame);
	}
}

static void add_rounds(struct json *to, const struct verdict_site *verdict)
{
	struct json *rounds;

	if (!verdict->rounds.kept) {
		json_add_null(to, "rounds");
		return;
	}
	rounds = json_add_object(to, "rounds");
	json_add_integer(rounds, "kept", verdict->rounds.kept);
	json_add_integer(rounds, "of", verdict->rounds.of);
	json_add_integer(rounds, "width", verdict->rounds.width);
}

static void add_real_if(struct json *to, const char *name, bool known, double value)
{
	if (known)
		json_add_real(to, name, value);
	else
		json_add_null(to, name);
}

static void add_integer_if(struct json *to, const char *name, bool known, uint64_t value)
{
	if (known)
		json_add_integer(to, name, value);
	else
		json_add_null(to, name);
}

/* A rule that the finding meets, as whoever wrote it finds it again. */
static void add_rule(struct json *to, const char *name, const struct rule *rule)
{
	struct json *object;

	if (!rule) {
		json_add_null(to, name);
		return;
	}
	object = json_add_object(to, name);
	json_add_string(object, "file", rule->file);
	json_add_integer(object, "line", rule->line);
	json_add_string(object, "pattern", rule->pattern);
	json_add_string(object, "reason", rule->reason);
	if (rule->bound)
		json_add_integer(object, "bound", rule->bound);
}

static void add_bound(struct json *to, const struct verdict_site *verdict)
{
	if (verdict->bound_bytes)
		json_add_integer(to, "bound", verdict->bound_bytes);
	else
		json_add_string(to, "bound", verdict->bound_unknown ? "unknown" : NULL);
}

static void add_evidence(struct json *to, const struct finding *finding)
{
	const struct verdict_site *verdict = finding->verdict;
	static const char *const freers[] = {NULL, "program", "gc", "both"};
	bool grows = finding->label == VERDICT_LEAK || finding->label == VERDICT_GROWING;
	char sentence[VERDICT_SENTENCE];

	add_real_if(to, "bytes_per_step", grows, finding->bytes_per_step);
	json_add_integer(to, "bytes", finding->bytes);
	json_add_integer(to, "blocks", finding->blocks);
	add_rounds(to, verdict);
	json_add_integer(to, "first_step", finding->first_step);
	json_add_integer(to, "last_step", finding->last_step);
	add_integer_if(to, "period_steps", verdict->period_steps, verdict->period_steps);
	json_add_string(to, "freed_by", freers[verdict->freed_by]);
	add_integer_if(to, "swing", finding->label == VERDICT_SAWTOOTH, verdict->swing);
	add_integer_if(to, "steps_missing", verdict->steps_missing, verdict->steps_missing);
	add_real_if(to, "confidence", grows, verdict->confidence);
	add_bound(to, verdict);
	verdict_site_sentence(verdict, sentence, sizeof(sentence));
	json_add_string(to, "evidence", sentence);
}

static void add_state(struct json *to, const struct finding *finding)
{
	static const char *const states[] = {NULL, "new", "faster", "known", "slower"};

	json_add_string(to, "baseline", states[finding->state]);
	add_real_if(to, "before", finding->state > FINDING_NEW && finding->before > 0,
		    finding->before);
}

/* At most FINDING_OPERATIONS of them. */
static void add_operations(struct json *object, const struct finding *finding)
{
	struct json *array = json_add_array(object, "operations");

	for (unsigned i = 0; i < FINDING_OPERATIONS && finding->operations[i].size; i++)
		json_add_text(array, NULL, finding->operations[i]);
}

struct json *json_finding(struct report *report, const struct finding *finding)
{
	const struct snapshot *snapshot = &report->snapshot;
	double parameters = kind_in_parameters(finding, snapshot);
	struct json *object = json_object();
	char key[KEY_SIZE];
	struct stack stack;

	json_add_string(object, "verdict", verdict_name(finding->label));
	json_add_string(object, "kind", kind_name(kind_of(finding, snapshot)));
	json_add_string(object, "occasion", occasion_text(finding, snapshot));
	add_evidence(object, finding);
	json_add_where(object, "where", snapshot, finding->place.where);
	json_add_where(object, "via", snapshot, finding->place.via);
	add_operations(object, finding);
	names_stack(&snapshot->names, finding->site->stack, &stack);
	if (finding->site->flags & GPULEAK_SITE_OVERFLOW)
		stack = (struct stack){.cut = true};
	json_add_stack(object, "stack", snapshot, &stack);
	json_add_bool(object, "stack_cut", stack.cut);
	json_add_integer(object, "parts", finding->parts);
	add_real_if(object, "size_in_parameters", parameters > 0, parameters);
	json_add_integer(object, "bytes_at_peak", finding->peak_bytes);
	json_add_string(object, "source",
			finding->site->source == GPULEAK_SOURCE_CUDART ? "cudaMalloc" : "torch");
	json_add_string(object, "key", key_of(&report->code, finding, key));
	add_rule(object, "suppressed_by", finding_suppressed(finding) ? finding->rule : NULL);
	add_rule(object, "bounded_by",
		 finding->rule && finding->rule->bound ? finding->rule : NULL);
	add_state(object, finding);
	return object;
}
