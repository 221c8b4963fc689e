/* Two runs side by side, as text. */
#include <inttypes.h>
#include <string.h>

#include "report/diff.h"
#include "report/escape.h"
#include "report/text.h"

static const size_t indent = 8; /* columns */

static bool grows(const struct finding *finding)
{
	return finding->label == VERDICT_LEAK || finding->label == VERDICT_GROWING;
}

static void print_run(const struct terminal *terminal, const char *which,
		      const struct report *report)
{
	char count[32];

	fprintf(terminal->out, "%-7s ", which);
	escape_print(terminal->out, (struct text){report->path, strlen(report->path)});
	fprintf(terminal->out, ": %s, %s step%s\n", verdict_name(report->verdict),
		verdict_count_text(report->snapshot.steps, count, sizeof(count)),
		report->snapshot.steps == 1 ? "" : "s");
}

static void print_answer(const struct terminal *terminal, const struct diff *diff)
{
	static const char *const words[] = {"new", "faster or larger", "fixed or gone",
					    "slower or smaller", "as before"};
	const char *between = "";

	for (unsigned kind = 0; kind < CHANGE_COUNT; kind++) {
		size_t count = diff_count(diff, (enum change_kind)kind);

		if (!count)
			continue;
		fprintf(terminal->out, "%s%zu %s", between, count, words[kind]);
		between = ", ";
	}
	fputs(*between ? "\n" : "nothing is kept, before and after\n", terminal->out);
}

/* "512 B a step", "6.00 MiB once". */
static size_t print_amount(const struct terminal *terminal, const struct finding *finding)
{
	double amount = grows(finding) ? finding->bytes_per_step : (double)finding->bytes;
	char size[32];

	return (size_t)fprintf(terminal->out, "%s%s", verdict_size_text(amount, size, sizeof(size)),
			       grows(finding) ? " a step" : "");
}

static void print_change(const struct terminal *terminal, const struct diff *diff,
			 const struct change *change)
{
	const struct finding *shown = change->kind == CHANGE_GONE ? change->before : change->after;
	const struct report *report = shown == change->after ? diff->after : diff->before;
	bool both = change->before && change->after;
	size_t used;

	fprintf(terminal->out, "  %-8s", change_name(change));
	terminal_label(terminal, shown->label);
	used = print_amount(terminal, shown);
	terminal_space(terminal, used < 18 ? 18 - used : 2);
	text_place(terminal, report, shown->place.where);
	if (both && change->before->label != change->after->label) {
		fprintf(terminal->out, shown == change->after ? "  (before: %s)" : "  (now: %s)",
			verdict_name(shown == change->after ? change->before->label
							    : change->after->label));
	} else if (change->kind == CHANGE_MORE || change->kind == CHANGE_LESS) {
		fputs("  (before: ", terminal->out);
		print_amount(terminal, change->before);
		fputc(')', terminal->out);
	}
	fputc('\n', terminal->out);
}

static void print_size(const struct terminal *terminal, const char *what, uint64_t before,
		       uint64_t after)
{
	char first[32], second[32];

	fprintf(terminal->out, "%s %s → %s", what,
		verdict_size_text((double)before, first, sizeof(first)),
		verdict_size_text((double)after, second, sizeof(second)));
}

static void print_sizes(const struct terminal *terminal, const struct diff_device *device)
{
	char step[32];

	terminal_space(terminal, indent);
	print_size(terminal, "allocated", device->sizes_before.allocated,
		   device->sizes_after.allocated);
	print_size(terminal, "   peak", device->sizes_before.peak, device->sizes_after.peak);
	print_size(terminal, "   reserved", device->sizes_before.reserved,
		   device->sizes_after.reserved);
	fprintf(terminal->out, "   at step %s\n",
		verdict_count_text(device->step, step, sizeof(step)));
}

static void print_headline(const struct terminal *terminal, const struct diff_device *device)
{
	if (device->before && device->after) {
		terminal_label(terminal, device->before->verdict.label);
		fputs("→ ", terminal->out);
		terminal_label(terminal, device->after->verdict.label);
		fputc('\n', terminal->out);
		print_sizes(terminal, device);
	} else {
		terminal_label(terminal, device->after ? device->after->verdict.label
						       : device->before->verdict.label);
		fprintf(terminal->out, "only the run %s uses this device\n",
			device->before ? "before" : "after");
	}
}

static void print_device(const struct terminal *terminal, const struct diff *diff,
			 const struct diff_device *device, const struct options *options)
{
	size_t max = options->all ? SIZE_MAX : (size_t)options->max_findings;
	size_t shown = 0, same = 0, more = 0;

	fprintf(terminal->out, "\ncuda:%" PRIu32 "  ", device->device);
	print_headline(terminal, device);
	for (size_t i = 0; i < device->count; i++) {
		if (device->items[i].kind == CHANGE_SAME && !options->all)
			same++;
		else if (shown++ < max)
			print_change(terminal, diff, &device->items[i]);
		else
			more++;
	}
	if (more)
		fprintf(terminal->out, "     and %zu more\n", more);
	if (same)
		fprintf(terminal->out, "  %zu finding%s as before.  --all shows them.\n", same,
			same == 1 ? "" : "s");
}

void diff_print_text(const struct terminal *terminal, struct diff *diff,
		     const struct options *options)
{
	print_answer(terminal, diff);
	print_run(terminal, "before", diff->before);
	print_run(terminal, "after", diff->after);
	if (diff->before->snapshot.steps != diff->after->snapshot.steps)
		fputs("The runs differ in length: the longer one can show what the other one "
		      "could not.\n",
		      terminal->out);
	for (size_t i = 0; i < diff->device_count; i++)
		print_device(terminal, diff, &diff->devices[i], options);
}
