#include "tracer/ring.h"

#include "tracer/hot.h"
#include "tracer/trace_writer.h"

#include "tracer/banned.h"

/* Reading the clock costs as much as the rest of an event. */
enum {
	RING_CLOCK_EVERY = 32,
	KIND_SHIFT = 56,
	AHEAD = 4 /* events: two cache lines */
};

/*
 * A page counts once its sequence is set; until then readers pass it by.  What an earlier claim
 * left behind the first event stays: each event ends what a reader looks at until the next one
 * is there, and emptying the page would fetch and push out each of its lines once more.
 */
__attribute__((noinline)) static void claim_page(struct ring_cursor *cursor,
						 struct ring_totals before)
{
	uint64_t claim = __atomic_fetch_add(&trace.state->ring_claimed, 1, __ATOMIC_RELAXED);
	struct gpuleak_ring_page *page = &trace.ring[claim % trace.ring_pages];

	__atomic_store_n(&page->sequence, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&page->events[0].when, 0, __ATOMIC_RELAXED);
	page->allocated = before.allocated;
	page->reserved = before.reserved;
	page->device = cursor->device;
	__atomic_store_n(&page->sequence, claim + 1, __ATOMIC_RELEASE);
	cursor->page = page;
	cursor->used = 0;
}

HOT_CODE void ring_write(struct ring_cursor *cursor, struct ring_totals before,
			 enum gpuleak_event_kind kind, struct gpuleak_event event)
{
	struct gpuleak_event *slot;

	if (!cursor->page || cursor->used == GPULEAK_RING_EVENTS) {
		if (!trace.ring_pages)
			return;
		claim_page(cursor, before);
	}
	if (cursor->used % RING_CLOCK_EVERY == 0)
		cursor->when = trace_now() / 100;
	slot = &cursor->page->events[cursor->used++];
	/* These lines come from memory, and a store that waits for one holds up all after it. */
	__builtin_prefetch(slot + AHEAD, 1);
	if (cursor->used < GPULEAK_RING_EVENTS)
		__atomic_store_n(&slot[1].when, 0, __ATOMIC_RELAXED);
	slot->address = event.address;
	slot->size = event.size;
	slot->site = event.site;
	slot->step = event.step;
	/* Last: an event without a kind is none, and ends its page. */
	__atomic_store_n(&slot->when, cursor->when | (uint64_t)kind << KIND_SHIFT,
			 __ATOMIC_RELEASE);
}

bool ring_ends_in_alloc(const struct ring_cursor *cursor, uint64_t address)
{
	const struct gpuleak_event *last;

	if (!cursor->page || !cursor->used)
		return true;
	last = &cursor->page->events[cursor->used - 1];
	return last->when >> KIND_SHIFT == GPULEAK_EVENT_ALLOC && last->address == address;
}
