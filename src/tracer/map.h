/*
 * A map from 64-bit hashes to 32-bit numbers in memory of our own.  Two things of
 * one hash are taken for the same: at 10^5 entries the chance of that is 3e-10.
 *
 * Not locked: the owner's lock is held in each call.  Zeroed: { 0 } is empty.
 */
#ifndef GPULEAK_TRACER_MAP_H
#define GPULEAK_TRACER_MAP_H

#include <stdbool.h>
#include <stdint.h>

struct map_slot {
	uint64_t key; /* 0: empty */
	uint32_t value;
	uint32_t unused;
};

struct map {
	struct map_slot *slots; /* owned */
	uint32_t bits;		/* 1 << bits slots; at most half are in use */
	uint32_t count;
};

enum {
	MAP_MISSING = 0xffffffffu
};

static inline uint64_t map_key(uint64_t hash)
{
	return hash ? hash : 1;
}

/* Fibonacci hashing: the high bits of the product are well mixed. */
static inline uint32_t map_home(uint64_t key, uint32_t bits)
{
	return (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> (64 - bits));
}

/* The number under `hash`, or MAP_MISSING. */
static inline uint32_t map_get(const struct map *map, uint64_t hash)
{
	uint64_t key = map_key(hash);
	uint32_t mask, i;

	if (!map->slots)
		return MAP_MISSING;
	mask = (1u << map->bits) - 1;
	for (i = map_home(key, map->bits); map->slots[i].key; i = (i + 1) & mask)
		if (map->slots[i].key == key)
			return map->slots[i].value;
	return MAP_MISSING;
}

/* False when there is no memory to grow into; the map is as it was. */
bool map_put(struct map *map, uint64_t hash, uint32_t value);

/* Empty it, keeping the memory. */
void map_clear(struct map *map);

#endif
