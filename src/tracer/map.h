/*
 * A map from 64-bit hashes to 32-bit numbers in memory of our own.  Two things of
 * one hash are taken for the same: at 10^5 entries the chance of that is 3e-10.
 *
 * Growing copies a few entries with each put, so that no call takes long.
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

/* 1 << bits slots. */
struct map_slots {
	struct map_slot *slots; /* owned; NULL: none */
	uint32_t bits;
};

struct map {
	struct map_slots now; /* at most half full */
	struct map_slots old; /* after growing, until all of it is copied: up to `copied` */
	uint32_t copied;
	uint32_t count; /* entries of `now` */
};

enum {
	MAP_MISSING = 0xffffffffu
};

static inline uint64_t map_key(uint64_t hash)
{
	return hash ? hash : 1;
}

/* Where `key` is, or the free slot that ends the search for it. */
static inline struct map_slot *map_find(const struct map_slots *table, uint64_t key)
{
	uint32_t mask = (1u << table->bits) - 1;
	/* Fibonacci hashing: the high bits of the product are well mixed. */
	uint32_t i = (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> (64 - table->bits));

	while (table->slots[i].key && table->slots[i].key != key)
		i = (i + 1) & mask;
	return &table->slots[i];
}

/* The number under `hash`, or MAP_MISSING. */
static inline uint32_t map_get(const struct map *map, uint64_t hash)
{
	uint64_t key = map_key(hash);
	const struct map_slot *slot;

	if (!map->now.slots)
		return MAP_MISSING;
	slot = map_find(&map->now, key);
	if (!slot->key && map->old.slots)
		slot = map_find(&map->old, key);
	return slot->key ? slot->value : MAP_MISSING;
}

/* False when there is no memory to grow into; the map is as it was. */
bool map_put(struct map *map, uint64_t hash, uint32_t value);

/* Empty it, keeping the memory. */
void map_clear(struct map *map);

#endif
