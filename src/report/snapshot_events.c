/* The ring: how many events it holds, and what happened after the last mark. */
#include "report/snapshot_copy.h"

#include <stdlib.h>

#include "report/items.h"
#include "report/memory.h"
#include "report/ring.h"

enum {
	OPEN_PAGES_MAX = 1 << 15, /* 128 MiB of the ring; what is more is not looked at */
};

/* A page with events from after the last mark. */
struct open_page {
	uint64_t sequence;
	uint64_t number; /* in the ring */
};

struct open_pages {
	struct open_page items[OPEN_PAGES_MAX];
	size_t count;
	bool all; /* false: there are more */
};

static enum gpuleak_event_kind kind_of(const struct gpuleak_event *event)
{
	return (enum gpuleak_event_kind)(event->when >> 56);
}

/*
 * Before the first mark there is nothing but the step under way.  Where steps were
 * counted anew, what came before may have higher numbers: it is dropped then.
 */
static bool is_open(const struct snapshot *snapshot, const struct gpuleak_event *event)
{
	if (kind_of(event) == GPULEAK_EVENT_RESTART)
		return snapshot->steps > 0;
	return kind_of(event) && (!snapshot->steps || event->step > snapshot->steps);
}

static void look_at(struct snapshot *snapshot, const struct gpuleak_ring_page *page,
		    struct open_pages *pages, uint64_t number)
{
	unsigned events = page->sequence ? ring_page_events(page) : 0;
	bool open = false;

	for (unsigned i = 0; i < events; i++)
		open |= is_open(snapshot, &page->events[i]);
	snapshot->events_kept += events;
	if (!open)
		return;
	if (pages->count < OPEN_PAGES_MAX)
		pages->items[pages->count++] = (struct open_page){page->sequence, number};
	else
		pages->all = false;
}

static int by_sequence(const void *first, const void *second)
{
	const struct open_page *a = first;
	const struct open_page *b = second;

	return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

/* Steps begin anew: what the device did before is in its record. */
static void drop_device(struct snapshot *snapshot, uint32_t device)
{
	size_t kept = 0;

	for (size_t i = 0; i < snapshot->open_count; i++)
		if (snapshot->open[i].device != device)
			snapshot->open[kept++] = snapshot->open[i];
	snapshot->open_count = kept;
}

static void take_page(struct snapshot *snapshot, const struct gpuleak_ring_page *page)
{
	unsigned events = ring_page_events(page);

	for (unsigned i = 0; i < events; i++) {
		const struct gpuleak_event *event = &page->events[i];

		if (!is_open(snapshot, event))
			continue;
		if (kind_of(event) == GPULEAK_EVENT_RESTART) {
			drop_device(snapshot, page->device);
			continue;
		}
		snapshot->open[snapshot->open_count++] = (struct snapshot_event){
			.size = event->size,
			.site = event->site,
			.device = page->device,
			.kind = (uint8_t)kind_of(event),
		};
	}
}

/* A page that the writer has overwritten meanwhile is left out: what it held is gone. */
static void take_open(struct snapshot *snapshot, const struct trace_file *file,
		      const struct trace_section *section, const struct open_pages *pages)
{
	struct gpuleak_ring_page page;

	snapshot->open = memory_new(pages->count * GPULEAK_RING_EVENTS, sizeof(*snapshot->open));
	for (size_t i = 0; i < pages->count; i++) {
		uint64_t offset = section->offset + pages->items[i].number * section->item_size;

		if (trace_file_read(file, offset, &page, sizeof(page)) &&
		    page.sequence == pages->items[i].sequence)
			take_page(snapshot, &page);
	}
}

void copy_events(struct snapshot *snapshot, const struct trace_file *file)
{
	const uint64_t pages_max = (1ull << 30) / GPULEAK_PAGE; /* a fraction of a second */
	struct open_pages *pages = memory_new(1, sizeof(*pages));
	struct gpuleak_ring_page page;
	struct trace_section section;
	struct items items;
	uint64_t used = snapshot->state.ring_claimed;

	pages->all = true;
	trace_file_section(file, GPULEAK_SECTION_RING, sizeof(page), &section);
	if (used > section.present)
		used = section.present;
	snapshot->events_counted = used <= pages_max;
	if (snapshot->events_counted) {
		items_init(&items, file, &section, 0, used);
		while (items_take(&items, &page, sizeof(page)))
			look_at(snapshot, &page, pages, items.next - 1);
		items_release(&items);
	}
	if (pages->count && pages->all) {
		qsort(pages->items, pages->count, sizeof(pages->items[0]), by_sequence);
		take_open(snapshot, file, &section, pages);
	}
	free(pages);
}
