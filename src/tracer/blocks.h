/*
 * The live blocks of one allocator on one device, by address.
 *
 * Blocks lie in the order in which they were given out, and the place of one that was freed is
 * the next to be used: what comes and goes together shares cache lines, and a table of small
 * numbers leads there.
 *
 * Not locked: the ledger's lock is held in each call.  Zeroed: { 0 } is empty.
 */
#ifndef GPULEAK_TRACER_BLOCKS_H
#define GPULEAK_TRACER_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/memory.h"

#define BLOCK_SIZE_MAX ((1ull << 40) - 1)
#define BLOCK_SITE_MAX ((1u << 24) - 1)

/* 20 bytes and not 24: tables of a million of them are two thirds of our memory. */
struct block {
	uint64_t address; /* 0: no block */
	uint64_t what;	  /* see block_size() and block_site() */
	uint32_t birth;	  /* step */
} __attribute__((packed, aligned(4)));
_Static_assert(sizeof(struct block) == 20, "see above");

/* `size` up to BLOCK_SIZE_MAX, `site` up to BLOCK_SITE_MAX. */
static inline struct block block_make(uint64_t address, uint64_t size, uint32_t site,
				      uint32_t birth)
{
	return (struct block){address, size << 24 | site, birth};
}

/* Bytes. */
static inline uint64_t block_size(const struct block *block)
{
	return block->what >> 24;
}

/* The ledger's number of its site. */
static inline uint32_t block_site(const struct block *block)
{
	return (uint32_t)block->what & BLOCK_SITE_MAX;
}

enum {
	BLOCKS_ADDRESS_SHIFT = 8, /* cudaMalloc aligns to 256 bytes, PyTorch to 512 */
	BLOCKS_NUMBER_BITS = 24,
	BLOCKS_CHUNK_BITS = 12, /* 80 KiB: growing never copies blocks */
	BLOCKS_CHUNK = 1 << BLOCKS_CHUNK_BITS,
};

/*
 * Numbers of blocks from 1, at most half full, by open addressing; in the upper bits how far
 * each lies from its home.  Growing moves a few with each call, since PyTorch's mutex is held: all
 * at once would take 30 ms at 2^18 blocks.  Until then some are in `old`.  The larger one's pages
 * are made one by one before: a home is anywhere in it.
 */
struct block_index {
	uint32_t *slots; /* owned; NULL: none */
	uint32_t mask;	 /* slots less 1 */
	uint32_t shift;	 /* of a mixed address, to its home */
};

struct block_table {
	struct block_index now;
	struct block_index old; /* emptied from the front, up to `moved` */
	struct block *first;	/* chunks[0]: all that most programs have */
	struct block **chunks;	/* owned, as each of them; NULL: none yet */
	uint32_t used;		/* places of the chunks that were ever in use */
	uint32_t free; /* the place that was freed last, from 1; each has the next in `birth` */
	uint32_t moved;
	uint32_t count;		  /* blocks in both */
	struct memory_ahead next; /* of `now`'s double, shortly before growing */
};

/* Where the search for `address` begins. */
static inline uint32_t blocks_home(const struct block_index *index, uint64_t address)
{
	uint64_t mixed = (address >> BLOCKS_ADDRESS_SHIFT) * 0x9e3779b97f4a7c15ull;

	return (uint32_t)(mixed >> index->shift);
}

/* Numbers from 1. */
static inline struct block *blocks_at(const struct block_table *table, uint32_t number)
{
	uint32_t place = number - 1;

	if (__builtin_expect(place < BLOCKS_CHUNK, 1))
		return &table->first[place];
	return &table->chunks[place >> BLOCKS_CHUNK_BITS][place % BLOCKS_CHUNK];
}

/*
 * Put `block` in.  `replaced` gets the block that was live at that address, or
 * address 0.  False when there is no memory to grow into, or no number for it left.
 */
bool blocks_put(struct block_table *table, const struct block *block, struct block *replaced);

/* The block at `address`, good until the next call; NULL when there is none. */
const struct block *blocks_find(const struct block_table *table, uint64_t address);

/* Take the block at `address` out.  False when there is none. */
bool blocks_take(struct block_table *table, uint64_t address, struct block *block);

/*
 * The usual ways of both, to be inlined: a block that comes to a home nobody is at, or leaves one
 * behind which nobody is.  False: not so, and nothing was done.
 */
static inline bool blocks_put_usual(struct block_table *table, struct block block)
{
	uint32_t number = table->free;
	struct block *place;
	uint32_t *slot;

	if (__builtin_expect(!number || table->count > table->now.mask / 2 || table->old.slots, 0))
		return false;
	slot = &table->now.slots[blocks_home(&table->now, block.address)];
	if (__builtin_expect(*slot, 0))
		return false;
	place = blocks_at(table, number);
	table->free = place->birth;
	table->count++;
	*slot = number;
	place->address = block.address;
	place->what = block.what;
	place->birth = block.birth;
	return true;
}

static inline bool blocks_take_usual(struct block_table *table, uint64_t address,
				     struct block *block)
{
	uint32_t home, number;
	struct block *place;

	if (__builtin_expect(!table->now.slots || table->old.slots, 0))
		return false;
	home = blocks_home(&table->now, address);
	number = table->now.slots[home];
	if (__builtin_expect(!number || number >> BLOCKS_NUMBER_BITS, 0))
		return false;
	place = blocks_at(table, number);
	if (__builtin_expect(
		    place->address != address || table->now.slots[(home + 1) & table->now.mask], 0))
		return false;
	block->address = address;
	block->what = place->what;
	block->birth = place->birth;
	table->now.slots[home] = 0;
	place->address = 0;
	place->birth = table->free;
	table->free = number;
	table->count--;
	return true;
}

/* Have fetched where the search for `address` begins; then, that being there, its block. */
static inline void blocks_foresee_home(const struct block_table *table, uint64_t address)
{
	if (table->now.slots)
		__builtin_prefetch(&table->now.slots[blocks_home(&table->now, address)], 1);
}

static inline void blocks_foresee_block(const struct block_table *table, uint64_t address)
{
	uint32_t number =
		table->now.slots ? table->now.slots[blocks_home(&table->now, address)] : 0;

	if (number && !(number >> BLOCKS_NUMBER_BITS))
		__builtin_prefetch(blocks_at(table, number), 1);
}

/* All blocks are of step 0 from now on. */
void blocks_start_anew(struct block_table *table);

#endif
