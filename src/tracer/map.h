/*
 * A map from 64-bit hashes to 32-bit numbers in memory of our own.  Two things of
 * one hash are taken for the same: at 10^5 entries the chance of that is 3e-10.
 *
 * Growing copies a few entries with each put, and the larger table's pages are made one by one
 * before, so that no call takes long.
 *
 * Not locked: the owner's lock is held in each call.  Zeroed: { 0 } is empty.
 */
#ifndef GPULEAK_TRACER_MAP_H
#define GPULEAK_TRACER_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/memory.h"

struct map_slot {
	uint64_t key; /* 0: empty */
	uint32_t value;
	uint32_t filling; /* of the map, when it was put; of an earlier one: empty */
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
	uint32_t count;		  /* entries of `now` */
	uint32_t filling;	  /* how often it was emptied */
	struct memory_ahead next; /* of `now`'s double, shortly before growing */
};

enum {
	MAP_MISSING = 0xffffffffu
};

static inline uint64_t map_key(uint64_t hash)
{
	return hash ? hash : 1;
}

/* Fibonacci hashing: the high bits of the product are well mixed. */
static inline uint32_t map_home(const struct map_slots *table, uint64_t key)
{
	return (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> (64 - table->bits));
}

static inline bool map_slot_used(const struct map *map, const struct map_slot *slot)
{
	return slot->key && slot->filling == map->filling;
}

/* Where `key` is, or the free slot that ends the search for it; from slot `i` on. */
static inline struct map_slot *map_find(const struct map *map, const struct map_slots *table,
					uint64_t key, uint32_t i)
{
	uint32_t mask = (1u << table->bits) - 1;

	for (;;) {
		const struct map_slot *slot = &table->slots[i];

		if (__builtin_expect(slot->key == key && slot->filling == map->filling, 1) ||
		    !map_slot_used(map, slot))
			return &table->slots[i];
		i = (i + 1) & mask;
	}
}

/* Slots up to `copied` may have been given back; nothing is ever taken out of those behind. */
static inline struct map_slot *map_find_old(const struct map *map, uint64_t key)
{
	uint32_t home = map_home(&map->old, key);

	return map_find(map, &map->old, key, home < map->copied ? map->copied : home);
}

/* The number under `hash`, or MAP_MISSING. */
static inline uint32_t map_get(const struct map *map, uint64_t hash)
{
	uint64_t key = map_key(hash);
	const struct map_slot *slot;

	if (!map->now.slots)
		return MAP_MISSING;
	slot = map_find(map, &map->now, key, map_home(&map->now, key));
	if (!map_slot_used(map, slot) && map->old.slots)
		slot = map_find_old(map, key);
	return map_slot_used(map, slot) ? slot->value : MAP_MISSING;
}

/* False when there is no memory to grow into; the map is as it was. */
bool map_put(struct map *map, uint64_t hash, uint32_t value);

/* Empty it at once, however large it is, keeping the memory. */
void map_clear(struct map *map);

#endif
