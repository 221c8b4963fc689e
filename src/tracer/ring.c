#include "tracer/ring.h"

#include "tracer/trace_writer.h"

#include "tracer/banned.h"

enum {
	TOUCH_LEAST = 32, /* pages at a time: the first costs most */
	TOUCH_MOST = 256, /* a millisecond's worth */
	TOUCH_SHARE = 4,  /* of the ring, at most: what lies further ahead is clean again by then */
};

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

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * A store that changes nothing, since another thread may be claiming the page.  By an exchange:
 * compilers make a load of what adds nothing.
 */
static void touch(struct gpuleak_ring_page *page)
{
	uint32_t zero = 0;

	__atomic_compare_exchange_n(&page->padding, &zero, 0, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}

/* As many pages as the last step took, and some more, so that it isn't done at each mark. */
static void touch_ahead(void)
{
	uint64_t claimed = __atomic_load_n(&trace.state->ring_claimed, __ATOMIC_RELAXED);
	uint64_t most = lesser(TOUCH_MOST, trace.ring_pages / TOUCH_SHARE);
	uint64_t wanted = claimed + lesser(claimed - trace.ring_seen + 1, most);

	trace.ring_seen = claimed;
	if (trace.ring_touched < claimed)
		trace.ring_touched = claimed;
	if (trace.ring_touched >= wanted)
		return;
	wanted = lesser(wanted + TOUCH_LEAST, claimed + most);
	for (; trace.ring_touched < wanted; trace.ring_touched++)
		touch(&trace.ring[trace.ring_touched % trace.ring_pages]);
}

void ring_touch_ahead(void)
{
	if (trace.file.slotted || __atomic_exchange_n(&trace.ring_touching, true, __ATOMIC_ACQUIRE))
		return;
	touch_ahead();
	__atomic_store_n(&trace.ring_touching, false, __ATOMIC_RELEASE);
}

bool ring_ends_in_alloc(const struct ring_cursor *cursor, uint64_t address)
{
	const struct gpuleak_event *last;

	if (!cursor->next || cursor->left == GPULEAK_RING_EVENTS)
		return true;
	last = cursor->next - 1;
	return last->when >> RING_KIND_SHIFT == GPULEAK_EVENT_ALLOC && last->address == address;
}
