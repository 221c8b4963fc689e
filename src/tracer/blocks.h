/*
 * The live blocks of one allocator on one device, by address.
 *
 * Not locked: the ledger's lock is held in each call.  Zeroed: { 0 } is empty.
 */
#ifndef GPULEAK_TRACER_BLOCKS_H
#define GPULEAK_TRACER_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

struct block {
	uint64_t address; /* 0: no block */
	uint64_t size;	  /* bytes */
	uint32_t site;	  /* the ledger's number of it */
	uint32_t birth;	  /* step */
};

/*
 * Growing moves a few blocks with each call, since PyTorch's mutex is held: all at
 * once would take 30 ms at 2^18 blocks.  Until then some are in `old`.
 */
struct block_slots {
	struct block *slots; /* owned; NULL: none */
	uint32_t bits;	     /* 1 << bits slots */
};

struct block_table {
	struct block_slots now; /* at most half full */
	struct block_slots old; /* emptied from the front, up to `moved` */
	uint32_t moved;
	uint32_t count; /* blocks in both */
};

/*
 * Put `block` in.  `replaced` gets the block that was live at that address, or
 * address 0.  False when there is no memory to grow into.
 */
bool blocks_put(struct block_table *table, const struct block *block, struct block *replaced);

/* Take the block at `address` out.  False when there is none. */
bool blocks_take(struct block_table *table, uint64_t address, struct block *block);

/* All blocks are of step 0 from now on. */
void blocks_start_anew(struct block_table *table);

#endif
