#include "report/ring.h"

#include <stdlib.h>

#include "report/items.h"
#include "report/memory.h"

enum {
	PAGES_MAX = 1 << 18 /* 1 GiB of them */
};

static int by_sequence(const void *first, const void *second)
{
	const struct ring_page_at *a = first;
	const struct ring_page_at *b = second;

	return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

void ring_init(struct ring *ring, const struct trace_file *file, uint64_t claimed, uint32_t device)
{
	struct gpuleak_ring_page page;
	struct items items;
	uint64_t used = claimed;

	*ring = (struct ring){.file = file};
	trace_file_section(file, GPULEAK_SECTION_RING, sizeof(page), &ring->section);
	if (used > ring->section.present)
		used = ring->section.present;
	if (used > PAGES_MAX)
		used = 0;
	ring->pages = memory_new(used, sizeof(*ring->pages));
	items_init(&items, file, &ring->section, 0, used);
	while (items_take(&items, &page, sizeof(page)))
		if (page.sequence && page.device == device)
			ring->pages[ring->count++] =
				(struct ring_page_at){page.sequence, items.next - 1};
	items_release(&items);
	qsort(ring->pages, ring->count, sizeof(*ring->pages), by_sequence);
}

void ring_release(struct ring *ring)
{
	free(ring->pages);
	*ring = (struct ring){0};
}

void ring_rewind(struct ring *ring)
{
	ring->next = 0;
}

bool ring_take(struct ring *ring, struct gpuleak_ring_page *page)
{
	while (ring->next < ring->count) {
		const struct ring_page_at *at = &ring->pages[ring->next++];
		uint64_t offset = ring->section.offset + at->number * ring->section.item_size;

		if (trace_file_read(ring->file, offset, page, sizeof(*page)) &&
		    page->sequence == at->sequence)
			return true;
	}
	return false;
}
