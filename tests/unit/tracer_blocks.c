/*
 * The block table against a plain array: random puts and takes, addresses that collide; half of
 * them by the usual way first, as the hook does.
 */
#include "tracer/blocks.h"

#include <stdlib.h>

#include "test.h"

enum {
	ADDRESSES = 20000, /* several chunks */
	EVENTS = 400000
};

static struct block model[ADDRESSES]; /* address 0: not live */
static struct block_table table;
static unsigned usual_puts, usual_takes;

/* Steps of 512 bytes, with a few far away: both neighbours and strangers. */
static uint64_t address_of(unsigned i)
{
	return 0x7f0000000000ull + (uint64_t)i * 512 + (i % 7 == 0 ? 1ull << 35 : 0);
}

static void put(unsigned i, uint32_t step)
{
	struct block block = block_make(address_of(i), (uint64_t)i * 8 + step, i, step);
	struct block replaced = {0};

	if (rand() % 2 && blocks_put_usual(&table, block))
		usual_puts++;
	else
		EXPECT(blocks_put(&table, &block, &replaced));
	EXPECT_U64(replaced.address, model[i].address);
	if (replaced.address)
		EXPECT_U64(block_size(&replaced), block_size(&model[i]));
	model[i] = block;
}

static void take(unsigned i)
{
	struct block block = {0};
	const struct block *found = blocks_find(&table, address_of(i));
	bool there = found && found->address == address_of(i) && block_site(found) == i;
	bool usual = rand() % 2 && blocks_take_usual(&table, address_of(i), &block);
	bool taken = usual || blocks_take(&table, address_of(i), &block);

	usual_takes += usual;
	EXPECT_U64(there, taken);
	EXPECT_U64(taken, model[i].address != 0);
	if (taken) {
		EXPECT_U64(block_size(&block), block_size(&model[i]));
		EXPECT_U64(block_site(&block), i);
		EXPECT_U64(block.birth, model[i].birth);
	}
	model[i].address = 0;
}

/* The largest size and site share a word. */
static void packing_keeps_all(void)
{
	struct block block = block_make(UINT64_MAX, BLOCK_SIZE_MAX, BLOCK_SITE_MAX, UINT32_MAX);

	EXPECT_U64(block.address, UINT64_MAX);
	EXPECT_U64(block_size(&block), BLOCK_SIZE_MAX);
	EXPECT_U64(block_site(&block), BLOCK_SITE_MAX);
	EXPECT_U64(block.birth, UINT32_MAX);
	block = block_make(1, BLOCK_SIZE_MAX, 0, 0);
	EXPECT_U64(block_site(&block), 0);
	block = block_make(1, 0, BLOCK_SITE_MAX, 0);
	EXPECT_U64(block_size(&block), 0);
}

int main(void)
{
	packing_keeps_all();
	uint32_t live = 0;

	srand(1);
	for (uint32_t step = 0; step < EVENTS && !test_failures; step++) {
		unsigned i = (unsigned)rand() % ADDRESSES;

		if (rand() % 2)
			put(i, step);
		else
			take(i);
	}
	for (unsigned i = 0; i < ADDRESSES; i++)
		live += model[i].address != 0;
	EXPECT_U64(table.count, live);
	for (unsigned i = 0; i < ADDRESSES; i++)
		take(i);
	EXPECT_U64(table.count, 0);
	EXPECT(usual_puts > EVENTS / 20 && usual_takes > EVENTS / 20);
	return test_result();
}
