#include "tracer/map.h"

#include <stddef.h>
#include <string.h>

#include "tracer/memory.h"

#include "tracer/banned.h"

enum {
	FIRST_BITS = 8,
	LAST_BITS = 28,
	COPIES = 8 /* old slots looked at per put: done before `now` is half full */
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

/* The old slots are left as they were: what stands in both is newer in `now`. */
static void copy_some(struct map *map)
{
	for (unsigned i = 0; i < COPIES && map->old.slots; i++) {
		const struct map_slot *from = &map->old.slots[map->copied++];
		struct map_slot *into = map_find(&map->now, map_key(from->key));

		if (from->key && !into->key) {
			*into = *from;
			map->count++;
		}
		if (map->copied == 1u << map->old.bits)
			drop_old(map);
	}
}

__attribute__((cold, noinline)) static bool map_grow(struct map *map)
{
	struct map_slots larger = {.bits = map->now.slots ? map->now.bits + 1 : FIRST_BITS};

	if (larger.bits > LAST_BITS || map->old.slots)
		return false;
	larger.slots = memory_take(slots_size(&larger));
	if (!larger.slots)
		return false;
	map->old = map->now;
	map->copied = 0;
	map->now = larger;
	map->count = 0;
	return true;
}

bool map_put(struct map *map, uint64_t hash, uint32_t value)
{
	uint64_t key = map_key(hash);
	struct map_slot *slot;

	if ((!map->now.slots || map->count >= 1u << (map->now.bits - 1)) && !map_grow(map))
		return false;
	slot = map_find(&map->now, key);
	if (!slot->key)
		map->count++;
	slot->key = key;
	slot->value = value;
	copy_some(map);
	return true;
}

void map_clear(struct map *map)
{
	drop_old(map);
	if (map->now.slots)
		memset(map->now.slots, 0, slots_size(&map->now));
	map->count = 0;
}
