#include "report/items.h"

#include <stdlib.h>
#include <string.h>

#include "report/memory.h"

enum {
	PIECE = 256 << 10 /* bytes */
};

void items_init(struct items *items, const struct trace_file *file,
		const struct trace_section *section, uint64_t first, uint64_t end)
{
	*items = (struct items){.file = file, .section = *section, .next = first};
	items->end = end < section->present ? end : section->present;
	items->piece = memory_new(PIECE, 1);
}

void items_release(struct items *items)
{
	free(items->piece);
	items->piece = NULL;
}

static bool piece_load(struct items *items)
{
	uint64_t count = PIECE / items->section.item_size;

	if (count > items->end - items->next)
		count = items->end - items->next;
	items->piece_first = items->next;
	items->piece_items = count;
	return trace_file_read(items->file,
			       items->section.offset + items->next * items->section.item_size,
			       items->piece, (size_t)(count * items->section.item_size));
}

/* An item larger than a piece: only the part that is wanted is read. */
static bool take_large(struct items *items, void *dst, size_t size)
{
	uint64_t offset = items->section.offset + items->next * items->section.item_size;

	items->next++;
	return trace_file_read(items->file, offset, dst, size);
}

bool items_take(struct items *items, void *dst, size_t size)
{
	if (items->next >= items->end || size > items->section.item_size)
		return false;
	if (items->section.item_size > PIECE)
		return take_large(items, dst, size);
	if (items->next >= items->piece_first + items->piece_items || !items->piece_items) {
		if (!piece_load(items)) {
			items->end = items->next;
			return false;
		}
	}
	memcpy(dst, items->piece + (items->next - items->piece_first) * items->section.item_size,
	       size);
	items->next++;
	return true;
}
