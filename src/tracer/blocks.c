#include "tracer/blocks.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#include "tracer/hot.h"
#include "tracer/memory.h"

#include "tracer/banned.h"

enum {
	FIRST_BITS = 10, /* a page: PyTorch's work pushes out what lies further apart */
	LAST_BITS = 25,
	MOVES = 4,	    /* old slots looked at per call: done before `now` is half full */
	RETURNED = 1 << 15, /* old slots given back at a time: whole pages of theirs */
	AHEAD = 32,	    /* of so many parts before it is full the last sees to the next */
	PUTS_A_PAGE = 8,    /* ... in whose puts all pages of the next come */
	DISTANCE_MAX = 255, /* at half load a chance of 1e-20 */
	CHUNKS = 1 << (BLOCKS_NUMBER_BITS - BLOCKS_CHUNK_BITS),
};

static size_t slots_size(const struct block_index *index)
{
	return sizeof(uint32_t) * ((size_t)index->mask + 1);
}

static uint32_t number_of(uint32_t slot)
{
	return slot & ((1u << BLOCKS_NUMBER_BITS) - 1);
}

static uint32_t distance_of(uint32_t slot)
{
	return slot >> BLOCKS_NUMBER_BITS;
}

/* Where a search ends: at the block, or at the free slot that it could be put into. */
struct place {
	uint32_t slot;
	uint32_t distance;
};

static inline struct place find(const struct block_table *table, const struct block_index *index,
				uint64_t address)
{
	uint32_t mask = index->mask;
	struct place place = {blocks_home(index, address), 0};
	uint32_t found;

	for (;;) {
		found = index->slots[place.slot];
		/* What lies as far from its home as we are has the same one. */
		if (!found || (distance_of(found) == place.distance &&
			       blocks_at(table, number_of(found))->address == address))
			return place;
		place.slot = (place.slot + 1) & mask;
		place.distance++;
	}
}

/* Backward-shift deletion: close the gap, so that no tombstones pile up. */
static inline void close_gap(struct block_index *index, uint32_t gap)
{
	uint32_t mask = index->mask;
	uint32_t i = gap;

	for (;;) {
		uint32_t apart, slot;

		i = (i + 1) & mask;
		slot = index->slots[i];
		if (!slot)
			break;
		apart = (i - gap) & mask;
		if (distance_of(slot) >= apart) {
			index->slots[gap] = slot - (apart << BLOCKS_NUMBER_BITS);
			gap = i;
		}
	}
	index->slots[gap] = 0;
}

/* The number of the block at `address`, no more in the index; 0: none. */
static inline uint32_t take_from(const struct block_table *table, struct block_index *index,
				 uint64_t address)
{
	uint32_t slot, number;

	if (!index->slots)
		return 0;
	slot = find(table, index, address).slot;
	number = number_of(index->slots[slot]);
	if (number)
		close_gap(index, slot);
	return number;
}

/*
 * From an old index.  Slots that were passed are empty, and so nothing whose home is one of
 * them is left: a look would have the kernel map what was given back.
 */
static uint32_t take_old(struct block_table *table, uint64_t address)
{
	return table->old.slots && blocks_home(&table->old, address) >= table->moved
		       ? take_from(table, &table->old, address)
		       : 0;
}

static bool put_number(struct block_index *index, struct place place, uint32_t number)
{
	if (place.distance > DISTANCE_MAX)
		return false;
	index->slots[place.slot] = place.distance << BLOCKS_NUMBER_BITS | number;
	return true;
}

static void free_number(struct block_table *table, uint32_t number)
{
	struct block *block = blocks_at(table, number);

	block->address = 0;
	block->birth = table->free;
	table->free = number;
}

/* Give the emptied front of the old slots back bit by bit: all at once takes too long. */
static void give_back(const struct block_table *table)
{
	size_t size = RETURNED * sizeof(uint32_t);
	int saved = errno;

	if (table->moved % RETURNED)
		return;
	madvise(table->old.slots + table->moved - RETURNED, size, MADV_DONTNEED);
	errno = saved;
}

static void move(struct block_table *table, uint32_t slot)
{
	uint32_t number = number_of(table->old.slots[slot]);
	struct place place = find(table, &table->now, blocks_at(table, number)->address);

	close_gap(&table->old, slot);
	if (put_number(&table->now, place, number))
		return;
	free_number(table, number);
	table->count--;
}

/* A slot is passed once it is empty; closing its gap may bring in another block. */
__attribute__((noinline)) static void move_some(struct block_table *table)
{
	struct block_index *old = &table->old;

	for (unsigned i = 0; i < MOVES && old->slots; i++) {
		if (old->slots[table->moved]) {
			move(table, table->moved);
			continue;
		}
		table->moved++;
		give_back(table);
		if (table->moved <= old->mask)
			continue;
		memory_give(old->slots, slots_size(old));
		old->slots = NULL;
	}
}

static struct block_index index_of(unsigned bits)
{
	return (struct block_index){.mask = (1u << bits) - 1, .shift = 64 - bits};
}

__attribute__((cold, noinline)) static bool grow(struct block_table *table)
{
	unsigned bits = table->now.slots ? 65 - table->now.shift : FIRST_BITS;
	struct block_index larger = index_of(bits);

	/* Both can't be outgrown at once: see MOVES. */
	if (bits > LAST_BITS || table->old.slots)
		return table->count < (table->now.mask + 1) / 4 * 3;
	larger.slots = memory_ahead_take(&table->next, slots_size(&larger));
	if (!larger.slots)
		return false;
	table->old = table->now;
	table->moved = 0;
	table->now = larger;
	return true;
}

/* The next index's pages, of which each of many puts that come together would need one. */
__attribute__((cold, noinline)) static void look_ahead(struct block_table *table)
{
	struct block_index larger = index_of(65 - table->now.shift);

	if (table->count % PUTS_A_PAGE == 0 && 64 - larger.shift <= LAST_BITS)
		memory_ahead_touch(&table->next, slots_size(&larger));
}

__attribute__((cold, noinline)) static bool add_chunk(struct block_table *table)
{
	struct block *chunk;

	if (!table->chunks)
		table->chunks = memory_take(CHUNKS * sizeof(*table->chunks));
	/* The last chunk stays unused, or its last number would not fit. */
	if (!table->chunks || table->used >> BLOCKS_CHUNK_BITS == CHUNKS - 1)
		return false;
	chunk = memory_take(BLOCKS_CHUNK * sizeof(*chunk));
	table->chunks[table->used >> BLOCKS_CHUNK_BITS] = chunk;
	table->first = table->chunks[0];
	return chunk;
}

/* A number for a new block; 0: none. */
static inline uint32_t take_number(struct block_table *table)
{
	uint32_t number = table->free;

	if (number) {
		table->free = blocks_at(table, number)->birth;
		return number;
	}
	if (table->used % BLOCKS_CHUNK == 0 && !add_chunk(table))
		return 0;
	return ++table->used;
}

static bool put_new(struct block_table *table, struct place place, const struct block *block)
{
	uint32_t number = take_number(table);

	if (!number)
		return false;
	if (!put_number(&table->now, place, number)) {
		free_number(table, number);
		return false;
	}
	*blocks_at(table, number) = *block;
	table->count++;
	return true;
}

/* The block at its address, in either index; 0: none.  `place`: where it is, or could be, in `now`.
 */
static inline uint32_t look_up(struct block_table *table, uint64_t address, struct place *place)
{
	uint32_t number;

	*place = find(table, &table->now, address);
	number = number_of(table->now.slots[place->slot]);
	if (number || !table->old.slots)
		return number;
	number = take_old(table, address);
	if (number && !put_number(&table->now, *place, number)) {
		free_number(table, number);
		table->count--;
		number = 0;
	}
	return number;
}

HOT_CODE bool blocks_put(struct block_table *table, const struct block *block,
			 struct block *replaced)
{
	struct place place;
	uint32_t number;
	bool done = true;

	replaced->address = 0;
	if ((!table->now.slots || table->count > table->now.mask / 2) && !grow(table))
		return false;
	number = look_up(table, block->address, &place);
	if (number) {
		*replaced = *blocks_at(table, number);
		*blocks_at(table, number) = *block;
	} else {
		done = put_new(table, place, block);
	}
	if (table->old.slots)
		move_some(table);
	else if (table->count > table->now.mask / 2 - table->now.mask / 2 / AHEAD)
		look_ahead(table);
	return done;
}

static const struct block *find_in(const struct block_table *table, const struct block_index *index,
				   uint64_t address)
{
	uint32_t number = number_of(index->slots[find(table, index, address).slot]);

	return number ? blocks_at(table, number) : NULL;
}

const struct block *blocks_find(const struct block_table *table, uint64_t address)
{
	const struct block *block = table->now.slots ? find_in(table, &table->now, address) : NULL;

	if (block || !table->old.slots || blocks_home(&table->old, address) < table->moved)
		return block;
	return find_in(table, &table->old, address);
}

HOT_CODE bool blocks_take(struct block_table *table, uint64_t address, struct block *block)
{
	uint32_t number = take_from(table, &table->now, address);

	if (!number)
		number = take_old(table, address);
	if (!number)
		return false;
	*block = *blocks_at(table, number);
	free_number(table, number);
	table->count--;
	if (table->old.slots)
		move_some(table);
	return true;
}

void blocks_start_anew(struct block_table *table)
{
	for (uint32_t number = 1; number <= table->used; number++)
		if (blocks_at(table, number)->address)
			blocks_at(table, number)->birth = 0;
}
