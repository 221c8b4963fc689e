/*
 * One pass over the items of a section, a piece of the file at a time.
 */
#ifndef GPULEAK_REPORT_ITEMS_H
#define GPULEAK_REPORT_ITEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/trace_file.h"

struct items {
	const struct trace_file *file; /* borrowed */
	struct trace_section section;
	uint64_t next;	/* item */
	uint64_t end;	/* item: not further than this */
	uint8_t *piece; /* owned */
	uint64_t piece_first;
	uint64_t piece_items;
};

/* Begin at item `first`, end before `end` or where the file ends. */
void items_init(struct items *items, const struct trace_file *file,
		const struct trace_section *section, uint64_t first, uint64_t end);

/* Copy the first `size` bytes of the next item, at most the section's item size.
 * False at the end, or when the file has become shorter. */
bool items_take(struct items *items, void *dst, size_t size);

void items_release(struct items *items);

#endif
