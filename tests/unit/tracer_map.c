/* The map finds what was put in, and nothing else, while it grows. */
#include "tracer/map.h"

#include "tracer/hash.h"

#include "test.h"

enum {
	ENTRIES = 100000
};

int main(void)
{
	struct map map = {0};

	EXPECT_U64(map_get(&map, 5), MAP_MISSING);
	for (uint32_t i = 0; i < ENTRIES; i++)
		EXPECT(map_put(&map, hash_mix(1, i), i));
	EXPECT_U64(map.count, ENTRIES);
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
	return test_result();
}
