#include "report/text.h"

#include <inttypes.h>
#include <string.h>

#include "report/clock.h"
#include "report/escape.h"
#include "report/tail.h"
#include "report/units.h"

/* What ran, in a word or two: the script, else the program. */
static void print_program(const struct terminal *terminal, const struct report *report)
{
	const struct snapshot *snapshot = &report->snapshot;
	struct text name = text_base(names_text(&snapshot->names, snapshot->run.main_file));

	if (!name.size)
		name = text_base(names_text(&snapshot->names, snapshot->run.program));
	if (!name.size)
		name = (struct text){"a program", strlen("a program")};
	escape_print_cut(terminal->out, name, 60);
	fprintf(terminal->out, ", pid %u", snapshot->run.pid);
	if (snapshot->run.host) {
		fputs(" on ", terminal->out);
		escape_print_cut(terminal->out, names_text(&snapshot->names, snapshot->run.host),
				 60);
	}
	if (snapshot->run.rank >= 0)
		fprintf(terminal->out, ", rank %d", snapshot->run.rank);
	if (snapshot->run.rank >= 0 && snapshot->run.world_size > 0)
		fprintf(terminal->out, " of %d", snapshot->run.world_size);
}

static void print_version(const struct terminal *terminal, const char *what, struct text version,
			  const char **between)
{
	const char *plus = version.size ? memchr(version.bytes, '+', version.size) : NULL;

	if (!version.size)
		return;
	if (plus)
		version.size = (size_t)(plus - version.bytes);
	fprintf(terminal->out, "%s%s ", *between, what);
	escape_print_cut(terminal->out, version, 40);
	*between = ", ";
}

/* "optimizer steps", "turns of the loop at infer.py:40": what a step is. */
static void print_clock(const struct terminal *terminal, struct report *report)
{
	const struct gpuleak_frame *line = clock_line(&report->code);
	const struct names *names = &report->snapshot.names;

	fprintf(terminal->out, " (%s", clock_meaning(report->snapshot.state.clock));
	if (line && line->language == GPULEAK_LANGUAGE_PYTHON && line->file && line->line) {
		fputs(" at ", terminal->out);
		escape_print_cut(terminal->out, text_base(names_text(names, line->file)), 60);
		fprintf(terminal->out, ":%u", line->line);
	}
	fputc(')', terminal->out);
}

static void print_run(const struct terminal *terminal, struct report *report)
{
	const struct snapshot *snapshot = &report->snapshot;
	const struct names *names = &snapshot->names;
	const char *between = ": ";
	char count[32], duration[UNITS_SIZE];

	print_program(terminal, report);
	print_version(terminal, "PyTorch", names_text(names, snapshot->run.torch), &between);
	print_version(terminal, "CUDA", names_text(names, snapshot->run.cuda), &between);
	fprintf(terminal->out, "%s%zu %sGPU%s, %s step%s", between, report->device_count,
		snapshot->run.flags & GPULEAK_RUN_SIMULATED ? "simulated " : "",
		report->device_count == 1 ? "" : "s",
		verdict_count_text(snapshot->steps, count, sizeof(count)),
		snapshot->steps == 1 ? "" : "s");
	if (snapshot->steps)
		print_clock(terminal, report);
	fprintf(terminal->out, " in %s%s\n",
		units_duration((double)report_duration(report) / 1e9, duration),
		report->running ? "; still running" : "");
}

/* The line that names the device; how many there are like it. */
static void print_lines(const struct terminal *terminal, const struct report *report,
			const struct findings *device)
{
	size_t count = 0;

	while (count < device->count && device->items[count].label == device->verdict.label &&
	       !finding_suppressed(&device->items[count]))
		count++;
	text_place(terminal, report, device->items[0].place.where);
	if (count > 1)
		fprintf(terminal->out, " and %zu more line%s", count - 1, count == 2 ? "" : "s");
	if (report->device_count > 1)
		fprintf(terminal->out, ", on cuda:%u", device->device->device);
}

static void print_nothing_seen(const struct terminal *terminal, const struct report *report)
{
	const struct snapshot *snapshot = &report->snapshot;
	struct text why = names_text(&snapshot->names, snapshot->run.empty_why);

	fputs("no GPU event was seen: this proves nothing", terminal->out);
	if (!why.size)
		return;
	fputs("; ", terminal->out);
	escape_print_cut(terminal->out, why, 300);
}

static size_t count_suppressed(const struct report *report)
{
	size_t count = 0;

	for (size_t i = 0; i < report->device_count; i++)
		count += text_suppressed_count(&report->devices[i]);
	return count;
}

/* What is new against --baseline, among what can fail. */
static void print_states(const struct terminal *terminal, const struct report *report,
			 const struct options *options)
{
	static const char *const words[] = {"", "new", "faster", "known", "slower"};
	uint32_t labels = options->fail_on | 1u << VERDICT_LEAK | 1u << VERDICT_GROWING;
	const char *between = "; beside the baseline ";
	size_t counts[5] = {0};

	for (size_t i = 0; i < report->device_count; i++)
		for (size_t k = 0; k < report->devices[i].count; k++) {
			const struct finding *finding = &report->devices[i].items[k];

			if (labels & 1u << finding->label && !finding_suppressed(finding))
				counts[finding->state]++;
		}
	for (unsigned state = FINDING_NEW; state <= FINDING_SLOWER; state++) {
		if (!counts[state])
			continue;
		fprintf(terminal->out, "%s%zu %s", between, counts[state], words[state]);
		between = ", ";
	}
}

/* Is it a leak, of which line, how fast, until when. */
static void print_answer(const struct terminal *terminal, struct report *report,
			 const struct options *options)
{
	const struct findings *device = report_gravest(report);
	char sentence[VERDICT_SENTENCE], size[32], step[32];
	struct tail tail;
	enum verdict label;
	size_t suppressed;

	if (report_names_host(report)) {
		verdict_host_sentence(&report->host, sentence, sizeof(sentence));
		fprintf(terminal->out, "no leak on the GPU; %s", sentence);
		return;
	}
	if (!device) {
		print_nothing_seen(terminal, report);
		return;
	}
	label = device->verdict.label;
	if (label >= VERDICT_STABLE && label <= VERDICT_WORKLOAD)
		fputs("no leak; ", terminal->out);
	if (device->count && device->items[0].label == label &&
	    !finding_suppressed(&device->items[0]) && label >= VERDICT_JUMP) {
		print_lines(terminal, report, device);
		fputs(": ", terminal->out);
	}
	text_device_sentence(device, sentence, sizeof(sentence));
	escape_print(terminal->out, (struct text){sentence, strlen(sentence)});
	print_states(terminal, report, options);
	suppressed = count_suppressed(report);
	if (suppressed)
		fprintf(terminal->out, "; %zu finding%s suppressed", suppressed,
			suppressed == 1 ? " is" : "s are");
	if (label == VERDICT_SHORT)
		fputs("; so far this proves nothing", terminal->out);
	if (tail_find(&tail, report, device))
		fprintf(terminal->out, "; not judged: %s that piled up after step %s",
			verdict_size_text((double)tail.bytes, size, sizeof(size)),
			verdict_count_text(tail.after_step, step, sizeof(step)));
}

/* "3 sites" after a comma where others went before; nothing for none. */
static void print_count(const struct terminal *terminal, uint64_t count, const char *what,
			const char **between)
{
	char number[32];

	if (!count)
		return;
	fprintf(terminal->out, "%s%s %s%s", *between,
		verdict_count_text(count, number, sizeof(number)), what, count == 1 ? "" : "s");
	*between = ", ";
}

static void print_dropped(const struct terminal *terminal, const struct report *report)
{
	const struct gpuleak_state *state = &report->snapshot.state;
	const char *between = "Dropped: ";

	print_count(terminal, state->dropped_events, "event", &between);
	print_count(terminal, state->dropped_sites, "stack of its own", &between);
	print_count(terminal, state->dropped_blocks, "live block", &between);
	print_count(terminal, state->dropped_evidence, "site's evidence", &between);
	print_count(terminal, state->dropped_notes, "note", &between);
	fputs(between[0] == 'D' ? "Nothing was dropped.\n" : ".\n", terminal->out);
}

/* Only where it grows. */
static void print_host(const struct terminal *terminal, const struct report *report)
{
	const struct gpuleak_host_version *at = &report->snapshot.host;
	char sentence[VERDICT_SENTENCE], first[32], last[32];

	if (!report->device_count || report_host_label(report) != VERDICT_HOST)
		return;
	verdict_host_sentence(&report->host, sentence, sizeof(sentence));
	fputs("\nhost    ", terminal->out);
	terminal_label(terminal, VERDICT_HOST);
	fprintf(terminal->out, "%s\n", sentence);
	fprintf(terminal->out, "        resident %s → %s",
		verdict_size_text((double)at->first_resident, first, sizeof(first)),
		verdict_size_text((double)at->resident, last, sizeof(last)));
	fprintf(terminal->out, "   pinned %s → %s\n",
		verdict_size_text((double)at->first_pinned, first, sizeof(first)),
		verdict_size_text((double)at->pinned, last, sizeof(last)));
	fputs("        A data set that is still being loaded looks the same.\n\n", terminal->out);
}

/* gpuleak_step() counts whatever torch.optim is like. */
static void print_without_optimizers(const struct terminal *terminal, const struct report *report)
{
	struct text why = report_without_optimizers(report);

	if (!why.size || report->snapshot.state.clock == GPULEAK_CLOCK_EXPLICIT)
		return;
	fputs("Steps can't be counted from torch.optim: ", terminal->out);
	escape_print_cut(terminal->out, why, 300);
	fprintf(terminal->out, "\n  Counted instead: %s; gpuleak_step() would be exact.\n",
		clock_meaning(report->snapshot.state.clock));
}

static void print_remarks(const struct terminal *terminal, const struct report *report,
			  const struct options *options)
{
	const struct snapshot *snapshot = &report->snapshot;
	struct text off = report_without_python(report);
	struct message why;
	char count[32];

	print_dropped(terminal, report);
	if (off.size) {
		fputs("Python's lines are missing: ", terminal->out);
		escape_print_cut(terminal->out, off, 300);
		fputc('\n', terminal->out);
	}
	print_without_optimizers(terminal, report);
	if (snapshot->state.status == GPULEAK_STATUS_GAVE_UP) {
		fprintf(terminal->out, "The tracer stopped recording after step %s: ",
			verdict_count_text(snapshot->steps, count, sizeof(count)));
		escape_print_cut(terminal->out,
				 names_text(&snapshot->names, snapshot->state.gave_up_why), 300);
		fputc('\n', terminal->out);
	}
	if (snapshot->hurried)
		fputs("The trace was written faster than it could be read: numbers may be a few "
		      "steps apart.\n",
		      terminal->out);
	if (report->damaged)
		fprintf(terminal->out, "The trace is damaged: %s record%s skipped.\n",
			verdict_count_text(report->damaged, count, sizeof(count)),
			report->damaged == 1 ? "" : "s");
	if (snapshot->lost)
		fprintf(terminal->out, "The file was cut short: %s record%s missing.\n",
			verdict_count_text(snapshot->lost, count, sizeof(count)),
			snapshot->lost == 1 ? "" : "s");
	if (report_proves_too_little(report, options, &why))
		fprintf(terminal->out, "This proves too little: %s.\n", why.text);
}

void text_print(const struct terminal *terminal, struct report *report,
		const struct options *options)
{
	text_oom_leads(terminal, report, false);
	terminal_label(terminal, report->verdict);
	print_answer(terminal, report, options);
	fputc('\n', terminal->out);
	print_run(terminal, report);
	fputc('\n', terminal->out);
	for (size_t i = 0; i < report->device_count; i++) {
		if (i)
			fputc('\n', terminal->out);
		text_device(terminal, report, &report->devices[i], options);
	}
	print_host(terminal, report);
	print_remarks(terminal, report, options);
}

static void print_summary_line(const struct terminal *terminal, struct report *report,
			       const struct options *options)
{
	terminal_label(terminal, report->verdict);
	escape_print(terminal->out, (struct text){report->path, strlen(report->path)});
	if (report->snapshot.run.rank >= 0)
		fprintf(terminal->out, " (rank %d)", report->snapshot.run.rank);
	fputs("   ", terminal->out);
	print_answer(terminal, report, options);
	fputc('\n', terminal->out);
}

/* The gravest first: it answers for all. */
void text_print_summary(const struct terminal *terminal, struct report *reports, size_t count,
			const struct options *options)
{
	for (size_t i = 0; i < count; i++)
		text_oom_leads(terminal, &reports[i], true);
	for (unsigned label = VERDICT_COUNT; label-- > 0;)
		for (size_t i = 0; i < count; i++)
			if (reports[i].verdict == label)
				print_summary_line(terminal, &reports[i], options);
	fputc('\n', terminal->out);
}
