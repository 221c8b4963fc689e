#include "tracer/blocks.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#include "tracer/memory.h"

#include "tracer/banned.h"

enum {
	FIRST_BITS = 9, /* compact: each block costs a cache line that PyTorch pushed out */
	LAST_BITS = 28,
	ADDRESS_SHIFT = 8, /* cudaMalloc aligns to 256 bytes, PyTorch to 512 */
	MOVES = 4,	   /* old slots looked at per call: done before `now` is half full */
	RETURNED = 1 << 13 /* old slots given back at a time: whole pages of theirs */
};

static size_t slots_size(const struct block_slots *table)
{
	return sizeof(struct block) << table->bits;
}

static uint32_t home(const struct block_slots *table, uint64_t address)
{
	uint64_t mixed = (address >> ADDRESS_SHIFT) * 0x9e3779b97f4a7c15ull;

	return (uint32_t)(mixed >> (64 - table->bits));
}

/* Where the block at `address` is, or the free slot that ends the search for it. */
static uint32_t find(const struct block_slots *table, uint64_t address)
{
	uint32_t mask = (1u << table->bits) - 1;
	uint32_t i = home(table, address);

	while (table->slots[i].address && table->slots[i].address != address)
		i = (i + 1) & mask;
	return i;
}

/* Backward-shift deletion: close the gap, so that no tombstones pile up. */
static void close_gap(struct block_slots *table, uint32_t gap)
{
	uint32_t mask = (1u << table->bits) - 1;
	uint32_t i = gap;

	for (;;) {
		i = (i + 1) & mask;
		if (!table->slots[i].address)
			break;
		if (((i - home(table, table->slots[i].address)) & mask) >= ((i - gap) & mask)) {
			table->slots[gap] = table->slots[i];
			gap = i;
		}
	}
	table->slots[gap].address = 0;
}

static bool take_from(struct block_slots *table, uint64_t address, struct block *block)
{
	uint32_t i;

	if (!table->slots)
		return false;
	i = find(table, address);
	if (!table->slots[i].address)
		return false;
	*block = table->slots[i];
	close_gap(table, i);
	return true;
}

/*
 * From an old table.  Slots that were passed are empty, and so nothing whose home is one of
 * them is left: a look would have the kernel map what was given back.
 */
static bool take_old(struct block_table *table, uint64_t address, struct block *block)
{
	return table->old.slots && home(&table->old, address) >= table->moved &&
	       take_from(&table->old, address, block);
}

/* Give the emptied front of the old slots back bit by bit: all at once takes too long. */
static void give_back(const struct block_table *table)
{
	size_t size = RETURNED * sizeof(struct block);
	int saved = errno;

	if (table->moved % RETURNED)
		return;
	madvise(table->old.slots + table->moved - RETURNED, size, MADV_DONTNEED);
	errno = saved;
}

/* A slot is passed once it is empty; closing its gap may bring in another block. */
__attribute__((noinline)) static void move_some(struct block_table *table)
{
	struct block_slots *old = &table->old;

	for (unsigned i = 0; i < MOVES && old->slots; i++) {
		struct block *slot = &old->slots[table->moved];

		if (slot->address) {
			table->now.slots[find(&table->now, slot->address)] = *slot;
			close_gap(old, table->moved);
			continue;
		}
		table->moved++;
		give_back(table);
		if (table->moved < 1u << old->bits)
			continue;
		memory_give(old->slots, slots_size(old));
		old->slots = NULL;
	}
}

__attribute__((cold, noinline)) static bool grow(struct block_table *table)
{
	struct block_slots larger = {.bits = table->now.slots ? table->now.bits + 1 : FIRST_BITS};

	/* Both can't be outgrown at once: see MOVES. */
	if (larger.bits > LAST_BITS || table->old.slots)
		return table->count < (1u << table->now.bits) / 4 * 3;
	larger.slots = memory_take(slots_size(&larger));
	if (!larger.slots)
		return false;
	table->old = table->now;
	table->moved = 0;
	table->now = larger;
	return true;
}

bool blocks_put(struct block_table *table, const struct block *block, struct block *replaced)
{
	uint32_t i;

	replaced->address = 0;
	if ((!table->now.slots || table->count >= 1u << (table->now.bits - 1)) && !grow(table))
		return false;
	if (take_old(table, block->address, replaced))
		table->count--;
	i = find(&table->now, block->address);
	if (table->now.slots[i].address)
		*replaced = table->now.slots[i];
	else
		table->count++;
	table->now.slots[i] = *block;
	if (table->old.slots)
		move_some(table);
	return true;
}

static const struct block *find_in(const struct block_slots *table, uint64_t address)
{
	const struct block *block = table->slots ? &table->slots[find(table, address)] : NULL;

	return block && block->address ? block : NULL;
}

const struct block *blocks_find(const struct block_table *table, uint64_t address)
{
	const struct block *block = find_in(&table->now, address);

	return block ? block : find_in(&table->old, address);
}

bool blocks_take(struct block_table *table, uint64_t address, struct block *block)
{
	if (!take_from(&table->now, address, block) && !take_old(table, address, block))
		return false;
	table->count--;
	if (table->old.slots)
		move_some(table);
	return true;
}

static void slots_start_anew(struct block_slots *table)
{
	for (size_t i = 0; table->slots && i < (size_t)1 << table->bits; i++)
		table->slots[i].birth = 0;
}

void blocks_start_anew(struct block_table *table)
{
	slots_start_anew(&table->now);
	slots_start_anew(&table->old);
}
