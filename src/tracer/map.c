#include "tracer/map.h"

#include <string.h>

#include "tracer/memory.h"

#include "tracer/banned.h"

enum {
	FIRST_BITS = 8,
	LAST_BITS = 28
};

static size_t slots_size(uint32_t bits)
{
	return sizeof(struct map_slot) << bits;
}

static struct map_slot *free_slot(struct map_slot *slots, uint32_t bits, uint64_t key)
{
	uint32_t mask = (1u << bits) - 1;
	uint32_t i = map_home(key, bits);

	while (slots[i].key && slots[i].key != key)
		i = (i + 1) & mask;
	return &slots[i];
}

static bool map_grow(struct map *map)
{
	uint32_t bits = map->slots ? map->bits + 1 : FIRST_BITS;
	struct map_slot *slots;

	if (bits > LAST_BITS)
		return false;
	slots = memory_take(slots_size(bits));
	if (!slots)
		return false;
	for (uint32_t i = 0; map->slots && i < 1u << map->bits; i++)
		if (map->slots[i].key)
			*free_slot(slots, bits, map->slots[i].key) = map->slots[i];
	memory_give(map->slots, slots_size(map->bits));
	map->slots = slots;
	map->bits = bits;
	return true;
}

bool map_put(struct map *map, uint64_t hash, uint32_t value)
{
	uint64_t key = map_key(hash);
	struct map_slot *slot;

	if ((!map->slots || map->count >= 1u << (map->bits - 1)) && !map_grow(map))
		return false;
	slot = free_slot(map->slots, map->bits, key);
	if (!slot->key)
		map->count++;
	slot->key = key;
	slot->value = value;
	return true;
}

void map_clear(struct map *map)
{
	if (map->slots)
		memset(map->slots, 0, slots_size(map->bits));
	map->count = 0;
}
