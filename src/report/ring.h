/*
 * The ring's pages of one device, in the order in which they were written.
 */
#ifndef GPULEAK_REPORT_RING_H
#define GPULEAK_REPORT_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/trace_file.h"

struct ring_page_at {
	uint64_t sequence;
	uint64_t number; /* in the ring */
};

struct ring {
	const struct trace_file *file; /* borrowed */
	struct trace_section section;
	struct ring_page_at *pages; /* owned, by sequence */
	size_t count;
	size_t next;
};

/* `claimed`: pages that the state says were ever used. */
void ring_init(struct ring *ring, const struct trace_file *file, uint64_t claimed, uint32_t device);
void ring_release(struct ring *ring);

/* Begin again with the first page. */
void ring_rewind(struct ring *ring);

/* The next page that is still what it was.  False at the end. */
bool ring_take(struct ring *ring, struct gpuleak_ring_page *page);

#endif
