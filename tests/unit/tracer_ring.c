/*
 * What a reader finds in the ring after each event, also once pages are claimed again; which pages
 * are there before they are written.
 */
#include "tracer/ring.h"

#include <sys/mman.h>
#include <unistd.h>

#include "report/ring.h"
#include "tracer/trace_writer.h"

#include "test.h"

enum {
	PAGES = 2,
	LAPS = 3,
	MANY_PAGES = 2048,
	STEP_PAGES = 50,
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

static void test_events(void)
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
}

/* A page that was never written to isn't there. */
static bool is_there(uint64_t page)
{
	unsigned char there;

	return mincore(&trace.ring[page % MANY_PAGES], sizeof(*trace.ring), &there) == 0 &&
	       there & 1;
}

static void write_pages(struct ring_cursor *cursor, unsigned count)
{
	for (unsigned i = 0; i < count * GPULEAK_RING_EVENTS; i++)
		ring_write(cursor, (struct ring_totals){0, 0}, GPULEAK_EVENT_ALLOC,
			   (struct gpuleak_event){.address = i, .size = 512});
}

static void begin_many(void)
{
	void *memory = mmap(NULL, MANY_PAGES * sizeof(*trace.ring), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	EXPECT(memory != MAP_FAILED);
	madvise(memory, MANY_PAGES * sizeof(*trace.ring), MADV_NOHUGEPAGE);
	state = (struct gpuleak_state){0};
	trace = (struct trace){.state = &state, .ring = memory, .ring_pages = MANY_PAGES};
}

static void end_many(void)
{
	munmap(trace.ring, MANY_PAGES * sizeof(*trace.ring));
}

/* All that a step as large as the last one needs, and not all that there is. */
static void test_touched(void)
{
	struct ring_cursor cursor = {.device = 0};

	begin_many();
	for (unsigned step = 1; step <= 3; step++) {
		write_pages(&cursor, STEP_PAGES);
		ring_touch_ahead();
		EXPECT_U64(state.ring_claimed, (uint64_t)step * STEP_PAGES);
		for (unsigned i = 0; i <= STEP_PAGES; i++)
			EXPECT(is_there(state.ring_claimed + i));
		EXPECT(!is_there(state.ring_claimed + 3 * STEP_PAGES));
	}
	end_many();
}

/* However much a step took: no more than some, or a quarter of a small ring. */
static void test_touched_at_most(void)
{
	struct ring_cursor cursor = {.device = 0};

	begin_many();
	write_pages(&cursor, MANY_PAGES / 2);
	ring_touch_ahead();
	EXPECT(is_there(MANY_PAGES / 2 + 255));
	EXPECT(!is_there(MANY_PAGES / 2 + 256));
	end_many();

	begin_many();
	cursor = (struct ring_cursor){.device = 0};
	trace.ring_pages = 64;
	write_pages(&cursor, 32);
	ring_touch_ahead();
	EXPECT(is_there(47));
	EXPECT(!is_there(48));
	end_many();
}

/* Round the end of the ring; and not where its memory is no file's. */
static void test_touched_again(void)
{
	struct ring_cursor cursor = {.device = 0};

	begin_many();
	write_pages(&cursor, MANY_PAGES - 1);
	madvise(trace.ring, MANY_PAGES * sizeof(*trace.ring), MADV_DONTNEED);
	trace.file.slotted = true;
	ring_touch_ahead();
	EXPECT(!is_there(MANY_PAGES));
	trace.file.slotted = false;
	ring_touch_ahead();
	EXPECT(is_there(MANY_PAGES - 1));
	EXPECT(is_there(MANY_PAGES));
	EXPECT_U64(trace.ring[0].padding, 0);
	end_many();
}

int main(void)
{
	test_events();
	test_touched();
	test_touched_at_most();
	test_touched_again();
	return test_result();
}
