/*
 * The latest events.  Each ledger writes pages of its own, so that devices don't
 * wait for each other; only claiming a page is shared, by one atomic addition.
 */
#ifndef GPULEAK_TRACER_RING_H
#define GPULEAK_TRACER_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/format.h"

/* Where a ledger writes next.  Guarded by the ledger's lock.  Zeroed: no page claimed. */
struct ring_cursor {
	struct gpuleak_event *next;
	uint64_t when; /* 100 ns units, of the events to come */
	uint32_t left; /* events that the page still has room for */
	uint32_t device;
};

/* PyTorch's totals before an event, for the head of a new page. */
struct ring_totals {
	uint64_t allocated;
	uint64_t reserved;
};

enum {
	RING_KIND_SHIFT = 56,
	RING_AHEAD = 4 /* events: two cache lines */
};

/* The time of the events to come.  Reading it costs as much as the rest of an event. */
void ring_read_clock(struct ring_cursor *cursor);

/* Claim a page.  False when there is no ring. */
bool ring_next_page(struct ring_cursor *cursor, struct ring_totals before);

/*
 * Have the pages of the next step's events ready to be written.  The kernel writes the file to its
 * disk twice a minute, and from then on the first store into each page is a fault, 4 to 14 us:
 * better between two steps, many at once, than one by one with PyTorch's mutex held.  Any thread;
 * no lock held, since a slow disk may make it wait.
 */
void ring_touch_ahead(void);

/* Write an event whose `when` holds the kind alone; the time is added. */
static inline void ring_write(struct ring_cursor *cursor, struct ring_totals before,
			      enum gpuleak_event_kind kind, struct gpuleak_event event)
{
	struct gpuleak_event *slot;

	if (__builtin_expect(cursor->left == 0, 0) && !ring_next_page(cursor, before))
		return;
	slot = cursor->next++;
	/* These lines come from memory, and a store that waits for one holds up all after it. */
	__builtin_prefetch(slot + RING_AHEAD, 1);
	if (__builtin_expect(--cursor->left != 0, 1))
		__atomic_store_n(&slot[1].when, 0, __ATOMIC_RELAXED);
	slot->address = event.address;
	slot->size = event.size;
	slot->site = event.site;
	slot->step = event.step;
	/* Last: an event without a kind is none, and ends its page. */
	__atomic_store_n(&slot->when, cursor->when | (uint64_t)kind << RING_KIND_SHIFT,
			 __ATOMIC_RELEASE);
}

/* The latest event is the allocation of that address; also when none is known. */
bool ring_ends_in_alloc(const struct ring_cursor *cursor, uint64_t address);

#endif
