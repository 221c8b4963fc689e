/* What a reader finds in the ring after each event, also once pages are claimed again. */
#include "tracer/ring.h"

#include "report/ring.h"
#include "tracer/trace_writer.h"

#include "test.h"

enum {
	PAGES = 2,
	LAPS = 3
};

static struct gpuleak_ring_page pages[PAGES];
static struct gpuleak_state state;

struct trace trace = {.state = &state, .ring = pages, .ring_pages = PAGES};

uint64_t trace_now(void)
{
	return 0;
}

/* The page last claimed holds what was written since, and nothing of an earlier claim. */
static void expect_events(uint64_t written)
{
	uint64_t claim = (written - 1) / GPULEAK_RING_EVENTS;
	uint64_t first = claim * GPULEAK_RING_EVENTS;
	const struct gpuleak_ring_page *page = &pages[claim % PAGES];
	unsigned events = ring_page_events(page);

	EXPECT_U64(page->sequence, claim + 1);
	EXPECT_U64(events, written - first);
	for (unsigned i = 0; i < events; i++)
		EXPECT_U64(page->events[i].address, first + i);
}

int main(void)
{
	struct ring_cursor cursor = {.device = 0};

	EXPECT(ring_ends_in_alloc(&cursor, 7)); /* nothing is known yet */
	for (uint64_t i = 0; i < (uint64_t)LAPS * PAGES * GPULEAK_RING_EVENTS; i++) {
		ring_write(&cursor, (struct ring_totals){0, 0}, GPULEAK_EVENT_ALLOC,
			   (struct gpuleak_event){.address = i, .size = 512});
		expect_events(i + 1);
		EXPECT(ring_ends_in_alloc(&cursor, i));
		EXPECT(!ring_ends_in_alloc(&cursor, i + 1));
	}
	ring_write(&cursor, (struct ring_totals){0, 0}, GPULEAK_EVENT_FREE,
		   (struct gpuleak_event){.address = 7, .size = -512});
	EXPECT(!ring_ends_in_alloc(&cursor, 7));
	return test_result();
}
