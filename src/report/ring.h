/*
 * The ring's pages of one device, in the order in which they were written.
 */
#ifndef GPULEAK_REPORT_RING_H
#define GPULEAK_REPORT_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/trace_file.h"
#include "trace/format.h"

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

/*
 * So many events are in the page: the first without a kind ends them.  What lies behind it may be
 * of an earlier claim.
 */
static inline unsigned ring_page_events(const struct gpuleak_ring_page *page)
{
	unsigned events = 0;

	while (events < GPULEAK_RING_EVENTS && page->events[events].when >> 56)
		events++;
	return events;
}

/* `claimed`: pages that the state says were ever used. */
void ring_init(struct ring *ring, const struct trace_file *file, uint64_t claimed, uint32_t device);
void ring_release(struct ring *ring);

/* Begin again with the first page. */
void ring_rewind(struct ring *ring);

/* The next page that is still what it was.  False at the end. */
bool ring_take(struct ring *ring, struct gpuleak_ring_page *page);

#endif
