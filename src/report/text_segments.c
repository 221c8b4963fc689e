/* Why PyTorch's allocator has reserved more than it uses. */
#include "report/segments.h"
#include "report/text.h"

static const size_t indent = 8; /* columns */

static void print_segments(const struct terminal *terminal, uint64_t bytes, uint32_t count)
{
	char size[32], number[32];

	terminal_space(terminal, indent);
	fprintf(terminal->out, "%s in %s segment%s ",
		verdict_size_text((double)bytes, size, sizeof(size)),
		verdict_count_text(count, number, sizeof(number)), count == 1 ? "" : "s");
}

static void print_idle(const struct terminal *terminal, const struct segments *segments,
		       bool at_oom)
{
	char steps[32];

	if (!segments->idle)
		return;
	print_segments(terminal, segments->idle_bytes, segments->idle);
	if (at_oom)
		fputs("that lie free as a whole\n", terminal->out);
	else
		fprintf(terminal->out, "that the last %s steps did not use\n",
			verdict_count_text(segments->steps, steps, sizeof(steps)));
	if (segments->despite) {
		print_segments(terminal, segments->despite_bytes, segments->despite);
		fputs("taken while one as large lay free, so of another stream's or private "
		      "pool's\n",
		      terminal->out);
	} else if (segments->scattered) {
		print_segments(terminal, segments->scattered_bytes, segments->scattered);
		fputs("taken while as much lay free, in pieces that were too small\n",
		      terminal->out);
	}
}

static void print_pieces(const struct terminal *terminal, const struct segments *segments)
{
	char size[32];

	if (!segments->pieces)
		return;
	print_segments(terminal, segments->pieces_bytes, segments->pieces);
	fprintf(terminal->out, "of which small pieces are in use, the largest of %s\n",
		verdict_size_text((double)segments->largest_piece, size, sizeof(size)));
}

static void print_last(const struct terminal *terminal, struct report *report,
		       const struct segments *segments)
{
	struct place place;
	struct stack stack;

	if (!segments->last || !names_stack(&report->snapshot.names, segments->last->stack, &stack))
		return;
	place_of_stack(&place, &report->code, &stack);
	terminal_space(terminal, indent);
	fputs("the last one was taken for  ", terminal->out);
	text_place(terminal, report, place.where);
	fputc('\n', terminal->out);
}

static void print_help(const struct terminal *terminal, const struct segments *segments)
{
	char setting[128];

	terminal_space(terminal, indent);
	if (segments_setting(segments, setting, sizeof(setting)))
		fprintf(terminal->out, "what helps: PYTORCH_CUDA_ALLOC_CONF=%s\n", setting);
	else
		fputs("what helps: make streams once, not again and again, and let CUDA graphs "
		      "share "
		      "a pool; no setting does\n",
		      terminal->out);
}

void text_segments(const struct terminal *terminal, struct report *report,
		   const struct findings *device, bool at_oom)
{
	struct segments segments;

	if (!segments_find(&segments, report, device, at_oom)) {
		terminal_space(terminal, indent);
		fputs("what helps: PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, in most "
		      "cases\n",
		      terminal->out);
		return;
	}
	print_idle(terminal, &segments, at_oom);
	print_pieces(terminal, &segments);
	print_last(terminal, report, &segments);
	print_help(terminal, &segments);
}
