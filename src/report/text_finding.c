#include <stdlib.h>
#include <string.h>

#include "report/demangle.h"
#include "report/escape.h"
#include "report/kind.h"
#include "report/occasion.h"
#include "report/paths.h"
#include "report/source_line.h"
#include "report/text.h"

static const size_t indent = 8;	       /* columns before what explains a finding */
static const size_t amount_width = 18; /* columns of "12.5 MiB a step" and spaces */

static struct text text_of(const char *string)
{
	return (struct text){string, strlen(string)};
}

/* A path without what is the same for all of its kind. */
static const char *short_path(const struct report *report, const char *path)
{
	static const char *const folders[] = {"/site-packages/", "/dist-packages/"};
	const struct snapshot *snapshot = &report->snapshot;
	struct text folder = names_text(&snapshot->names, snapshot->run.folder);
	const char *below = path_below(path, folder);
	char script[PATH_SIZE];

	for (unsigned i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		const char *at = strstr(path, folders[i]);

		if (at)
			return at + strlen(folders[i]);
	}
	if (below)
		return below;
	path_absolute(script, folder, names_text(&snapshot->names, snapshot->run.main_file));
	path_parent(script);
	below = path_below(path, text_of(script));
	return below ? below : path;
}

static void print_native(const struct terminal *terminal, const struct names *names,
			 const struct gpuleak_frame *frame)
{
	struct text symbol = names_text(names, frame->function);
	char name[512];

	if (demangle(symbol, name, sizeof(name)))
		symbol = text_of(name);
	if (symbol.size) {
		escape_print_cut(terminal->out, symbol, 120);
		fputs(" in ", terminal->out);
	}
	escape_print_cut(terminal->out, text_base(names_text(names, frame->module)), 120);
	fprintf(terminal->out, "+0x%llx", (unsigned long long)frame->offset);
}

void text_place(const struct terminal *terminal, const struct report *report,
		const struct gpuleak_frame *frame)
{
	const struct names *names = &report->snapshot.names;
	char path[PATH_SIZE];
	struct text function;

	if (!frame) {
		fputs("unknown", terminal->out);
		return;
	}
	if (frame->language == GPULEAK_LANGUAGE_NATIVE) {
		print_native(terminal, names, frame);
		return;
	}
	code_file(&report->snapshot, frame, path);
	escape_print(terminal->out, text_of(short_path(report, path)));
	if (frame->line)
		fprintf(terminal->out, ":%u", frame->line);
	function = names_text(names, frame->function);
	fputs(" in ", terminal->out);
	escape_print_cut(terminal->out, function.size ? function : text_of("?"), 120);
}

/* "12.5 MiB a step", "0.60 MiB once", "3.00 MiB held". */
static size_t print_amount(const struct terminal *terminal, const struct finding *finding)
{
	char size[32];

	if (finding->label == VERDICT_LEAK || finding->label == VERDICT_GROWING)
		return (size_t)fprintf(
			terminal->out, "%s a step",
			verdict_size_text(finding->bytes_per_step, size, sizeof(size)));
	verdict_size_text((double)finding->bytes, size, sizeof(size));
	return (size_t)fprintf(terminal->out, "%s %s", size,
			       finding->label == VERDICT_JUMP ? "once" : "held");
}

static void print_source(const struct terminal *terminal, const struct report *report,
			 const struct gpuleak_frame *frame)
{
	char path[PATH_SIZE];
	char *line;

	if (!frame || frame->language != GPULEAK_LANGUAGE_PYTHON || !frame->line)
		return;
	code_file(&report->snapshot, frame, path);
	line = source_line(path, frame->line, report->snapshot.run.started);
	if (!line)
		return;
	terminal_space(terminal, indent);
	escape_print_cut(terminal->out, text_of(line), terminal->width - indent);
	fputc('\n', terminal->out);
	free(line);
}

/* "; optimizer state, 2.0 × the parameters (AdamW); normal". */
static void print_meaning(const struct terminal *terminal, const struct report *report,
			  const struct finding *finding)
{
	const struct snapshot *snapshot = &report->snapshot;
	struct text optimizer = names_text(&snapshot->names, snapshot->run.optimizer);
	enum kind kind = kind_of(finding, snapshot);
	double parameters = kind_in_parameters(finding, snapshot);

	if (kind != KIND_UNKNOWN)
		fprintf(terminal->out, "; %s", kind_name(kind));
	if (parameters >= 0.05)
		fprintf(terminal->out, "%s %.1f × the parameters", kind ? "," : ";", parameters);
	if (kind == KIND_OPTIMIZER_STATE && optimizer.size) {
		fputs(" (", terminal->out);
		escape_print_cut(terminal->out, optimizer, 40);
		fputc(')', terminal->out);
	}
	if (occasion_text(finding, snapshot))
		fprintf(terminal->out, "; %s", occasion_text(finding, snapshot));
	if (finding->label == VERDICT_JUMP && kind_is_normal(kind))
		fputs("; normal", terminal->out);
}

void text_rule(const struct terminal *terminal, const struct rule *rule)
{
	escape_print(terminal->out, text_of(rule->file));
	fprintf(terminal->out, ":%u: ", rule->line);
	escape_print(terminal->out, text_of(rule->reason));
}

/* A bound that somebody knows, kept or passed; a reason for which it doesn't count. */
static void print_rule(const struct terminal *terminal, const struct finding *finding)
{
	const struct rule *rule = finding->rule;
	char size[32];

	if (!rule)
		return;
	if (finding_suppressed(finding))
		fputs("; suppressed", terminal->out);
	else if (finding_passed_bound(finding))
		fprintf(terminal->out, "; has passed its bound of %s",
			verdict_size_text((double)rule->bound, size, sizeof(size)));
	fputs(" (", terminal->out);
	text_rule(terminal, rule);
	fputc(')', terminal->out);
}

/* Beside those of --baseline. */
static void print_state(const struct terminal *terminal, const struct finding *finding)
{
	const char *per = finding->label == VERDICT_JUMP ? "" : " a step";
	char size[32];

	if (finding->state == FINDING_ALONE || finding->label < VERDICT_JUMP)
		return;
	if (finding->state == FINDING_NEW)
		fputs("; new since the baseline", terminal->out);
	else if (finding->state == FINDING_KNOWN)
		fputs("; known from the baseline", terminal->out);
	else
		fprintf(terminal->out, "; %s%s in the baseline",
			verdict_size_text(finding->before, size, sizeof(size)), per);
}

static void print_evidence(const struct terminal *terminal, const struct report *report,
			   const struct finding *finding)
{
	bool sized = finding->blocks && finding->label >= VERDICT_WORKLOAD;
	char sentence[VERDICT_SENTENCE], size[32], count[32];

	verdict_site_sentence(finding->verdict, sentence, sizeof(sentence));
	terminal_space(terminal, indent);
	escape_print(terminal->out, text_of(sentence));
	if (finding->verdict->bound_unknown)
		fputs("; bound unknown", terminal->out);
	print_rule(terminal, finding);
	print_state(terminal, finding);
	print_meaning(terminal, report, finding);
	if (sized)
		fprintf(terminal->out, "; %s in %s block%s",
			verdict_size_text((double)finding->bytes, size, sizeof(size)),
			verdict_count_text(finding->blocks, count, sizeof(count)),
			finding->blocks == 1 ? "" : "s");
	if (finding->verdict->reason == VERDICT_REASON_ONCE &&
	    finding->last_step != finding->first_step)
		fprintf(terminal->out, "; others in steps %u to %u", finding->first_step,
			finding->last_step);
	if (finding->parts > 1)
		fprintf(terminal->out, "%s %s call stacks", sized ? " from" : ";",
			verdict_count_text(finding->parts, count, sizeof(count)));
	fputc('\n', terminal->out);
}

static void begin_way(const struct terminal *terminal, const char *what, bool *any)
{
	if (*any)
		fputs(";  ", terminal->out);
	else
		terminal_space(terminal, indent);
	*any = true;
	fprintf(terminal->out, "%s  ", what);
}

static void print_way(const struct terminal *terminal, const struct report *report,
		      const char *what, const struct gpuleak_frame *frame, bool *any)
{
	if (!frame)
		return;
	begin_way(terminal, what, any);
	text_place(terminal, report, frame);
}

/* All but the last that are kept: then there may be more. */
static void print_operations(const struct terminal *terminal, const struct finding *finding,
			     bool *any)
{
	const struct text *operations = finding->operations;

	begin_way(terminal, "allocated by", any);
	escape_print_cut(terminal->out, operations[0], 80);
	for (unsigned i = 1; i < FINDING_OPERATIONS - 1 && operations[i].size; i++) {
		fputs(", ", terminal->out);
		escape_print_cut(terminal->out, operations[i], 80);
	}
	if (operations[FINDING_OPERATIONS - 1].size)
		fputs(" and others", terminal->out);
}

/* Who called the line, what lies between it and PyTorch, what allocated. */
static void print_ways(const struct terminal *terminal, const struct report *report,
		       const struct finding *finding)
{
	const struct place *place = &finding->place;
	const struct gpuleak_frame *inner = place->inner;
	bool any = false;

	terminal_faint(terminal);
	if (finding->site->source == GPULEAK_SOURCE_CUDART) {
		terminal_space(terminal, indent);
		fputs(finding->site->flags & GPULEAK_SITE_SEGMENT
			      ? "a segment of PyTorch's allocator"
			      : "outside PyTorch's allocator: cudaMalloc",
		      terminal->out);
		any = true;
	}
	if (place->user)
		print_way(terminal, report, "called from", place->caller, &any);
	if (place->via != inner)
		print_way(terminal, report, "through", place->via, &any);
	if (finding->operations[0].size)
		print_operations(terminal, finding, &any);
	else if (inner != place->where &&
		 (place->python || !(finding->site->flags & GPULEAK_SITE_BACKWARD)))
		print_way(terminal, report, "allocated in", inner, &any);
	terminal_plain(terminal);
	if (any)
		fputc('\n', terminal->out);
}

void text_suppressed(const struct terminal *terminal, const struct report *report,
		     const struct finding *finding)
{
	size_t used;

	terminal_space(terminal, 5);
	terminal_label(terminal, finding->label);
	used = print_amount(terminal, finding);
	terminal_space(terminal, used < amount_width ? amount_width - used : 2);
	text_place(terminal, report, finding->place.where);
	fputs("  (", terminal->out);
	text_rule(terminal, finding->rule);
	fputs(")\n", terminal->out);
}

void text_print_unused(const struct terminal *terminal, const struct rules *rules)
{
	static const char *const whats[] = {"function", "file", "stack"};

	for (size_t i = 0; rules && i < rules->count; i++) {
		const struct rule *rule = &rules->items[i];

		if (rule->used)
			continue;
		escape_print(terminal->out, text_of(rule->file));
		fprintf(terminal->out, ":%u: no finding meets %s:", rule->line, whats[rule->what]);
		escape_print(terminal->out, text_of(rule->pattern));
		fputc('\n', terminal->out);
	}
}

void text_finding(const struct terminal *terminal, struct report *report,
		  const struct findings *device, const struct finding *finding, size_t number)
{
	size_t used;

	(void)device;
	fprintf(terminal->out, "%3zu  ", number);
	terminal_label(terminal, finding->label);
	used = print_amount(terminal, finding);
	terminal_space(terminal, used < amount_width ? amount_width - used : 2);
	if (finding->site->flags & GPULEAK_SITE_OVERFLOW)
		fputs("call stacks that found no room in the trace", terminal->out);
	else if ((finding->site->flags & GPULEAK_SITE_BACKWARD) && !finding->place.python &&
		 finding->place.where && finding->place.where->language == GPULEAK_LANGUAGE_NATIVE)
		fputs("a thread of autograd, of which no line is known", terminal->out);
	else
		text_place(terminal, report, finding->place.where);
	fputc('\n', terminal->out);
	print_source(terminal, report, finding->place.where);
	print_evidence(terminal, report, finding);
	print_ways(terminal, report, finding);
}
