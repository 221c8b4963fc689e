/* What memory was made of: at the peak, and when it was not enough. */
#include <string.h>

#include "report/escape.h"
#include "report/kind.h"
#include "report/oom.h"
#include "report/tail.h"
#include "report/text.h"

static const size_t indent = 8; /* columns */

static void print_row(const struct terminal *terminal, const struct report *report,
		      const struct composition *composition, const struct composition_row *row)
{
	char size[32];
	double share =
		composition->total ? 100.0 * (double)row->bytes / (double)composition->total : 0;

	terminal_space(terminal, indent + 2);
	fprintf(terminal->out, "%10s %3.0f %%  ",
		verdict_size_text((double)row->bytes, size, sizeof(size)), share);
	if (row->site->flags & GPULEAK_SITE_OVERFLOW)
		fputs("call stacks that found no room in the trace", terminal->out);
	else
		text_place(terminal, report, row->place.where);
	if (row->kind != KIND_UNKNOWN)
		fprintf(terminal->out, "  %s", kind_name(row->kind));
	fputc('\n', terminal->out);
}

void text_composition(const struct terminal *terminal, const struct report *report,
		      const struct composition *composition, size_t max)
{
	uint64_t rest = 0;
	char size[32];

	for (size_t i = 0; i < composition->count; i++) {
		if (i < max)
			print_row(terminal, report, composition, &composition->rows[i]);
		else
			rest += composition->rows[i].bytes;
	}
	if (rest) {
		terminal_space(terminal, indent + 2);
		fprintf(terminal->out, "%10s        %zu more lines\n",
			verdict_size_text((double)rest, size, sizeof(size)),
			composition->count - max);
	}
	if (composition->unattributed) {
		terminal_space(terminal, indent + 2);
		fprintf(terminal->out, "%10s        of lines that the trace does not tell\n",
			verdict_size_text((double)composition->unattributed, size, sizeof(size)));
	}
}

/* "out of memory in step 117, at train.py:31 in train" */
static void print_where(const struct terminal *terminal, const struct report *report,
			const struct oom *oom)
{
	char count[32];

	fprintf(terminal->out, " in step %s, at ",
		verdict_count_text(oom->note->step, count, sizeof(count)));
	text_place(terminal, report, oom->place.where);
}

static void print_sizes(const struct terminal *terminal, const struct findings *device,
			const struct oom *oom)
{
	char size[32], allocated[32], reserved[32], cached[32], capacity[32];

	terminal_space(terminal, indent);
	fprintf(terminal->out, "asked for %s; allocated %s, reserved %s, of that cached %s",
		verdict_size_text((double)oom->note->size, size, sizeof(size)),
		verdict_size_text((double)oom->note->allocated, allocated, sizeof(allocated)),
		verdict_size_text((double)oom->note->held, reserved, sizeof(reserved)),
		verdict_size_text((double)oom->cached, cached, sizeof(cached)));
	if (device->device->capacity)
		fprintf(terminal->out, "; the GPU has %s",
			verdict_size_text((double)device->device->capacity, capacity,
					  sizeof(capacity)));
	fputc('\n', terminal->out);
}

/* An error that was caught, and after which the program went on. */
static void print_caught(const struct terminal *terminal, const struct report *report,
			 const struct findings *device, const struct oom *oom)
{
	char cause[256], count[32];

	terminal_space(terminal, indent);
	fputs("ran out of memory", terminal->out);
	if (oom->count > 1)
		fprintf(terminal->out, " %s times, last",
			verdict_count_text(oom->count, count, sizeof(count)));
	print_where(terminal, report, oom);
	fputs(", and went on\n", terminal->out);
	print_sizes(terminal, device, oom);
	terminal_space(terminal, indent);
	fprintf(terminal->out, "cause: %s\n", oom_cause_text(oom, device, cause, sizeof(cause)));
}

void text_oom(const struct terminal *terminal, struct report *report, const struct findings *device)
{
	struct oom oom;
	char cause[256];

	if (!oom_find(&oom, report, device))
		return;
	if (!oom.ended) {
		print_caught(terminal, report, device, &oom);
		oom_release(&oom);
		return;
	}
	fputs("\n     Out of memory", terminal->out);
	print_where(terminal, report, &oom);
	fputc('\n', terminal->out);
	print_sizes(terminal, device, &oom);
	terminal_space(terminal, indent);
	fprintf(terminal->out, "cause: %s\n", oom_cause_text(&oom, device, cause, sizeof(cause)));
	if (oom.cause == OOM_FRAGMENTATION)
		text_segments(terminal, report, device, true);
	terminal_space(terminal, indent);
	fputs("what was allocated then:\n", terminal->out);
	text_composition(terminal, report, &oom.composition, 10);
	oom_release(&oom);
}

bool text_oom_leads(const struct terminal *terminal, struct report *report, bool named)
{
	char size[32], allocated[32], capacity[32], cause[256];

	for (size_t i = 0; i < report->device_count; i++) {
		const struct findings *device = &report->devices[i];
		struct oom oom;

		if (!oom_find(&oom, report, device))
			continue;
		oom_release(&oom);
		if (!oom.ended)
			continue;
		terminal_verdict(terminal, VERDICT_LEAK);
		fputs("OUT OF MEMORY", terminal->out);
		terminal_plain(terminal);
		if (named) {
			fputs("  ", terminal->out);
			escape_print(terminal->out,
				     (struct text){report->path, strlen(report->path)});
			fputc(':', terminal->out);
		}
		if (report->device_count > 1)
			fprintf(terminal->out, " on cuda:%u", device->device->device);
		print_where(terminal, report, &oom);
		fprintf(terminal->out, ": %s asked for, %s",
			verdict_size_text((double)oom.note->size, size, sizeof(size)),
			verdict_size_text((double)oom.note->allocated, allocated,
					  sizeof(allocated)));
		if (device->device->capacity)
			fprintf(terminal->out, " of %s",
				verdict_size_text((double)device->device->capacity, capacity,
						  sizeof(capacity)));
		fprintf(terminal->out, " allocated; %s\n",
			oom_cause_text(&oom, device, cause, sizeof(cause)));
		return true;
	}
	return false;
}

void text_peak(const struct terminal *terminal, struct report *report,
	       const struct findings *device, const struct options *options)
{
	struct composition composition;
	char size[32], step[32];

	composition_of_peak(&composition, report, device);
	fprintf(terminal->out, "\n     Peak of %s in step %s%s, made of\n",
		verdict_size_text((double)composition.total, size, sizeof(size)),
		verdict_count_text(composition.step, step, sizeof(step)),
		composition.open ? " (under way)" : "");
	text_composition(terminal, report, &composition, (size_t)options->max_findings);
	composition_release(&composition);
}

void text_tail(const struct terminal *terminal, struct report *report,
	       const struct findings *device)
{
	char size[32], blocks[32], step[32];
	struct tail tail;

	if (!tail_find(&tail, report, device))
		return;
	fprintf(terminal->out, "Not judged, since no step ended after step %s: %s piled up there, ",
		verdict_count_text(tail.after_step, step, sizeof(step)),
		verdict_size_text((double)tail.bytes, size, sizeof(size)));
	fprintf(terminal->out, "%s blocks of it at ",
		verdict_count_text(tail.blocks, blocks, sizeof(blocks)));
	text_place(terminal, report, tail.place.where);
	fputs(".\n", terminal->out);
}
