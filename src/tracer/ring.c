#include "tracer/ring.h"

#include <string.h>

#include "tracer/trace_writer.h"

#include "tracer/banned.h"

/* Reading the clock costs as much as the rest of an event. */
enum {
	RING_CLOCK_EVERY = 32,
	KIND_SHIFT = 56
};

/* A page counts once its sequence is set; until then readers pass it by. */
__attribute__((noinline)) static void claim_page(struct ring_cursor *cursor,
						 struct ring_totals before)
{
	uint64_t claim = __atomic_fetch_add(&trace.state->ring_claimed, 1, __ATOMIC_RELAXED);
	struct gpuleak_ring_page *page = &trace.ring[claim % trace.ring_pages];

	__atomic_store_n(&page->sequence, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memset(page->events, 0, sizeof(page->events));
	page->allocated = before.allocated;
	page->reserved = before.reserved;
	page->device = cursor->device;
	__atomic_store_n(&page->sequence, claim + 1, __ATOMIC_RELEASE);
	cursor->page = page;
	cursor->used = 0;
}

void ring_write(struct ring_cursor *cursor, struct ring_totals before, enum gpuleak_event_kind kind,
		struct gpuleak_event event)
{
	struct gpuleak_event *slot;

	if (!trace.ring_pages)
		return;
	if (!cursor->page || cursor->used == GPULEAK_RING_EVENTS)
		claim_page(cursor, before);
	if (cursor->used % RING_CLOCK_EVERY == 0)
		cursor->when = trace_now() / 100;
	slot = &cursor->page->events[cursor->used++];
	slot->address = event.address;
	slot->size = event.size;
	slot->site = event.site;
	slot->step = event.step;
	/* Last: an event without a kind is none. */
	__atomic_store_n(&slot->when, cursor->when | (uint64_t)kind << KIND_SHIFT,
			 __ATOMIC_RELEASE);
}
