#include "tracer/blocks.h"

#include <stddef.h>

#include "tracer/memory.h"

#include "tracer/banned.h"

enum {
	FIRST_BITS = 9, /* compact: each block costs a cache line that PyTorch pushed out */
	LAST_BITS = 28,
	ADDRESS_SHIFT = 8, /* cudaMalloc aligns to 256 bytes, PyTorch to 512 */
};

static uint32_t home(const struct block_table *table, uint64_t address)
{
	uint64_t mixed = (address >> ADDRESS_SHIFT) * 0x9e3779b97f4a7c15ull;

	return (uint32_t)(mixed >> (64 - table->bits));
}

static uint32_t find(const struct block_table *table, uint64_t address)
{
	uint32_t mask = (1u << table->bits) - 1;
	uint32_t i = home(table, address);

	while (table->slots[i].address && table->slots[i].address != address)
		i = (i + 1) & mask;
	return i;
}

static bool grow(struct block_table *table)
{
	struct block_table larger = {.bits = table->slots ? table->bits + 1 : FIRST_BITS};

	if (larger.bits > LAST_BITS)
		return false;
	larger.slots = memory_take(sizeof(struct block) << larger.bits);
	if (!larger.slots)
		return false;
	larger.count = table->count;
	for (uint32_t i = 0; table->slots && i < 1u << table->bits; i++)
		if (table->slots[i].address)
			larger.slots[find(&larger, table->slots[i].address)] = table->slots[i];
	memory_give(table->slots, sizeof(struct block) << table->bits);
	*table = larger;
	return true;
}

bool blocks_put(struct block_table *table, const struct block *block, struct block *replaced)
{
	uint32_t i;

	replaced->address = 0;
	if ((!table->slots || table->count >= 1u << (table->bits - 1)) && !grow(table))
		return false;
	i = find(table, block->address);
	if (table->slots[i].address)
		*replaced = table->slots[i];
	else
		table->count++;
	table->slots[i] = *block;
	return true;
}

/* Backward-shift deletion: close the gap, so that no tombstones pile up. */
static void close_gap(struct block_table *table, uint32_t gap)
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

bool blocks_take(struct block_table *table, uint64_t address, struct block *block)
{
	uint32_t i;

	if (!table->slots)
		return false;
	i = find(table, address);
	if (!table->slots[i].address)
		return false;
	*block = table->slots[i];
	close_gap(table, i);
	table->count--;
	return true;
}
