/* The address space that device memory is handed out of. */
#include "sim/core/space.h"

#include <stdlib.h>

#include "test.h"

enum {
	MIB = 1 << 20
};

static const uint64_t base = 1ull << 40;

static uint64_t take(struct gpusim_space *space, uint64_t size, uint64_t cost)
{
	EXPECT_U64(gpusim_space_cost(space, size), cost);
	return gpusim_space_take(space, size);
}

static void give(struct gpusim_space *space, uint64_t address, uint64_t size, uint64_t saved)
{
	uint64_t was = 0, freed = 0;

	EXPECT(gpusim_space_give(space, address, &was, &freed));
	EXPECT_U64(was, size);
	EXPECT_U64(freed, saved);
	EXPECT(!gpusim_space_give(space, address, &was, &freed));
}

static void small_ones_share_a_chunk(void)
{
	struct gpusim_space space;
	uint64_t first, second, third, start, size;

	EXPECT(gpusim_space_init(&space, base, 64 * MIB));
	first = take(&space, 1, 2 * MIB);
	second = take(&space, 513, 0);
	third = take(&space, MIB - 1, 0);
	EXPECT_U64(first, base);
	EXPECT_U64(second, base + 512);
	EXPECT_U64(third, base + 512 + 1024);
	EXPECT(gpusim_space_find(&space, second + 1023, &start, &size));
	EXPECT_U64(start, second);
	EXPECT_U64(size, 1024);
	EXPECT(!gpusim_space_find(&space, base + 2 * MIB - 1, &start, &size));
	give(&space, second, 1024, 0);
	EXPECT_U64(take(&space, 700, 0), second);
	give(&space, second, 1024, 0);
	give(&space, first, 512, 0);
	give(&space, third, MIB, 2 * MIB);
	EXPECT_U64(space.end, 0);
}

static void large_ones_have_their_own(void)
{
	struct gpusim_space space;
	uint64_t first, second, start, size;

	EXPECT(gpusim_space_init(&space, base, 64 * MIB));
	first = take(&space, MIB, 2 * MIB);
	second = take(&space, 3 * MIB, 4 * MIB);
	EXPECT_U64(second, base + 2 * MIB);
	EXPECT(gpusim_space_find(&space, second + 4 * MIB - 1, &start, &size));
	EXPECT_U64(start, second);
	EXPECT_U64(size, 4 * MIB);
	EXPECT(!gpusim_space_find(&space, second + 4 * MIB, &start, &size));
	EXPECT(!gpusim_space_give(&space, second + 512, &start, &size));
	EXPECT_U64(gpusim_space_take(&space, 59 * MIB), 0);
	EXPECT_U64(gpusim_space_take(&space, 58 * MIB), base + 6 * MIB);
	give(&space, first, 2 * MIB, 2 * MIB);
	EXPECT_U64(take(&space, 2 * MIB, 2 * MIB), base);
}

/* Whatever the order of takes and gives: no two overlap, and all comes back. */
static void random_order(void)
{
	enum {
		LIVE = 200,
		TURNS = 20000
	};
	struct gpusim_space space;
	uint64_t address[LIVE] = {0}, size[LIVE] = {0}, was, saved;
	uint64_t used = 0;

	srand(1);
	EXPECT(gpusim_space_init(&space, base, 4096ull * MIB));
	for (int turn = 0; turn < TURNS; turn++) {
		int i = rand() % LIVE;

		if (address[i]) {
			EXPECT(gpusim_space_give(&space, address[i], &was, &saved));
			EXPECT(was >= size[i]);
			used -= saved;
			address[i] = 0;
			continue;
		}
		size[i] = 1 + (uint64_t)rand() % (rand() % 4 ? 100000 : 8 * MIB);
		used += gpusim_space_cost(&space, size[i]);
		address[i] = gpusim_space_take(&space, size[i]);
		EXPECT(address[i] != 0);
		for (int j = 0; j < LIVE; j++)
			EXPECT(j == i || !address[j] || address[j] >= address[i] + size[i] ||
			       address[j] + size[j] <= address[i]);
	}
	for (int i = 0; i < LIVE; i++)
		if (address[i] && gpusim_space_give(&space, address[i], &was, &saved))
			used -= saved;
	EXPECT_U64(used, 0);
	EXPECT_U64(space.end, 0);
}

int main(void)
{
	small_ones_share_a_chunk();
	large_ones_have_their_own();
	random_order();
	return test_result();
}
