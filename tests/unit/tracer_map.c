/* The map finds what was put in, and nothing else, while it grows. */
#include "tracer/map.h"

#include "tracer/hash.h"

#include "test.h"

enum {
	ENTRIES = 100000
};

/* `salt` tells these keys from others.  At each size, also while it is being copied. */
static void fill(struct map *map, uint64_t salt)
{
	uint64_t chance = 1;

	for (uint32_t i = 0; i < ENTRIES; i++) {
		uint32_t earlier;

		EXPECT(map_put(map, hash_mix(salt, i), i));
		chance = hash_mix(chance, i);
		earlier = (uint32_t)(chance % (i + 1));
		EXPECT_U64(map_get(map, hash_mix(salt, earlier)), earlier);
		EXPECT_U64(map_get(map, hash_mix(salt, i + 1)), MAP_MISSING);
	}
	EXPECT_U64(map->count, ENTRIES);
}

/* Emptied at any moment, it has what came since and nothing else. */
static void cleared_while_it_grows(void)
{
	for (uint32_t entries = 1; entries < 20000; entries += entries / 7 + 1) {
		struct map map = {0};

		for (uint32_t i = 0; i < entries; i++)
			EXPECT(map_put(&map, hash_mix(1, i), i));
		map_clear(&map);
		EXPECT_U64(map.count, 0);
		for (uint32_t i = 0; i < entries; i += 3)
			EXPECT(map_put(&map, hash_mix(1, i), i + 1));
		for (uint32_t i = 0; i < entries; i++)
			EXPECT_U64(map_get(&map, hash_mix(1, i)), i % 3 ? MAP_MISSING : i + 1);
	}
}

int main(void)
{
	struct map map = {0};

	EXPECT_U64(map_get(&map, 5), MAP_MISSING);
	fill(&map, 1);
	for (uint32_t i = 0; i < ENTRIES; i++) {
		EXPECT_U64(map_get(&map, hash_mix(1, i)), i);
		EXPECT_U64(map_get(&map, hash_mix(2, i)), MAP_MISSING);
	}
	EXPECT(map_put(&map, hash_mix(1, 7), 8));
	EXPECT_U64(map_get(&map, hash_mix(1, 7)), 8);
	EXPECT_U64(map.count, ENTRIES);

	/* Hash 0 is a key like any other. */
	EXPECT(map_put(&map, 0, 3));
	EXPECT_U64(map_get(&map, 0), 3);

	map_clear(&map);
	EXPECT_U64(map_get(&map, hash_mix(1, 7)), MAP_MISSING);
	EXPECT_U64(map.count, 0);
	fill(&map, 2);
	cleared_while_it_grows();
	return test_result();
}
