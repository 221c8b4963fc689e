#include "tracer/map.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#include "tracer/memory.h"

#include "tracer/banned.h"

enum {
	FIRST_BITS = 8,
	LAST_BITS = 28,
	COPIES = 8,	    /* old slots looked at per put: done before `now` is half full */
	RETURNED = 1 << 13, /* old slots given back at a time: whole pages of theirs */
	AHEAD = 16,	    /* of so many parts before it is full the last sees to the next */
	PUTS_A_PAGE = 4	    /* ... in whose puts all pages of the next come */
};

static size_t slots_size(const struct map_slots *table)
{
	return sizeof(struct map_slot) << table->bits;
}

static void drop_old(struct map *map)
{
	memory_give(map->old.slots, map->old.slots ? slots_size(&map->old) : 0);
	map->old.slots = NULL;
}

/* Give the copied front of the old slots back bit by bit: all at once takes too long. */
static void give_back(const struct map *map)
{
	size_t size = RETURNED * sizeof(struct map_slot);
	int saved = errno;

	if (map->copied % RETURNED)
		return;
	madvise(map->old.slots + map->copied - RETURNED, size, MADV_DONTNEED);
	errno = saved;
}

/* Slots behind `copied` are left as they were: what stands in both is newer in `now`. */
static void copy_some(struct map *map)
{
	for (unsigned i = 0; i < COPIES && map->old.slots; i++) {
		const struct map_slot *from = &map->old.slots[map->copied++];
		struct map_slot *into;

		if (map_slot_used(map, from)) {
			into = map_find(map, &map->now, from->key, map_home(&map->now, from->key));
			map->count += !map_slot_used(map, into);
			if (!map_slot_used(map, into))
				*into = *from;
		}
		give_back(map);
		if (map->copied == 1u << map->old.bits)
			drop_old(map);
	}
}

__attribute__((cold, noinline)) static bool map_grow(struct map *map)
{
	struct map_slots larger = {.bits = map->now.slots ? map->now.bits + 1 : FIRST_BITS};

	if (larger.bits > LAST_BITS || map->old.slots)
		return false;
	larger.slots = memory_ahead_take(&map->next, slots_size(&larger));
	if (!larger.slots)
		return false;
	map->old = map->now;
	map->copied = 0;
	map->now = larger;
	map->count = 0;
	return true;
}

/* The next table's pages, of which a put or its copies would need one each. */
static void look_ahead(struct map *map)
{
	struct map_slots larger = {.bits = map->now.bits + 1};
	uint32_t full = 1u << (map->now.bits - 1);

	if (map->count < full - full / AHEAD || map->count % PUTS_A_PAGE || map->old.slots ||
	    larger.bits > LAST_BITS)
		return;
	memory_ahead_touch(&map->next, slots_size(&larger));
}

bool map_put(struct map *map, uint64_t hash, uint32_t value)
{
	uint64_t key = map_key(hash);
	struct map_slot *slot;

	if ((!map->now.slots || map->count >= 1u << (map->now.bits - 1)) && !map_grow(map))
		return false;
	slot = map_find(map, &map->now, key, map_home(&map->now, key));
	if (!map_slot_used(map, slot))
		map->count++;
	*slot = (struct map_slot){key, value, map->filling};
	copy_some(map);
	look_ahead(map);
	return true;
}

void map_clear(struct map *map)
{
	map->filling++;
	map->count = 0;
}
