#include "tracer/ring.h"

#include "tracer/trace_writer.h"

#include "tracer/banned.h"

/*
 * A page counts once its sequence is set; until then readers pass it by.  What an earlier claim
 * left behind the first event stays: each event ends what a reader looks at until the next one
 * is there, and emptying the page would fetch and push out each of its lines once more.
 */
static void claim_page(struct ring_cursor *cursor, struct ring_totals before)
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
	cursor->next = page->events;
	cursor->left = GPULEAK_RING_EVENTS;
}

__attribute__((noinline)) void ring_read_clock(struct ring_cursor *cursor)
{
	cursor->when = trace_now() / 100;
}

__attribute__((noinline)) bool ring_next_page(struct ring_cursor *cursor, struct ring_totals before)
{
	if (!trace.ring_pages)
		return false;
	claim_page(cursor, before);
	return true;
}

bool ring_ends_in_alloc(const struct ring_cursor *cursor, uint64_t address)
{
	const struct gpuleak_event *last;

	if (!cursor->next || cursor->left == GPULEAK_RING_EVENTS)
		return true;
	last = cursor->next - 1;
	return last->when >> RING_KIND_SHIFT == GPULEAK_EVENT_ALLOC && last->address == address;
}
