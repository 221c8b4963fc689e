/*
 * The latest events.  Each ledger writes pages of its own, so that devices don't
 * wait for each other; only claiming a page is shared, by one atomic addition.
 */
#ifndef GPULEAK_TRACER_RING_H
#define GPULEAK_TRACER_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/format.h"

/* Where a ledger writes next.  Guarded by the ledger's lock. */
struct ring_cursor {
	struct gpuleak_ring_page *page; /* in the trace; NULL: none claimed */
	uint32_t used;			/* events in it */
	uint32_t device;
	uint64_t when; /* 100 ns units; read from the clock once in RING_CLOCK_EVERY events */
};

/* PyTorch's totals before an event, for the head of a new page. */
struct ring_totals {
	uint64_t allocated;
	uint64_t reserved;
};

/* Write an event whose `when` holds the kind alone; the time is added. */
void ring_write(struct ring_cursor *cursor, struct ring_totals before, enum gpuleak_event_kind kind,
		struct gpuleak_event event);

/* The latest event is the allocation of that address; also when none is known. */
bool ring_ends_in_alloc(const struct ring_cursor *cursor, uint64_t address);

#endif
