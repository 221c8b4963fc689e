#include "sim/core/space.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	CELLS = GPUSIM_CHUNK / GPUSIM_CELL
};

/* A run of chunks is described at its first one; the others say how far back that is. */
struct gpusim_chunk {
	struct gpusim_slab *slab; /* owned; NULL: not shared */
	uint32_t run;		  /* chunks from here; 0: free or not the first */
	uint32_t back;		  /* distance to the first of the run */
};

/* A chunk shared by small allocations. */
struct gpusim_slab {
	struct gpusim_slab *next, *previous; /* among those with a free cell */
	uint32_t chunk;
	uint32_t free;	      /* cells */
	uint32_t longest;     /* no free run is longer */
	uint16_t run[CELLS];  /* cells from here, at the first of a run; 0: free */
	uint16_t back[CELLS]; /* distance to the first of the run */
};

bool gpusim_space_init(struct gpusim_space *space, uint64_t base, uint64_t size)
{
	uint32_t count = (uint32_t)(size / GPUSIM_CHUNK);
	void *chunks;

	*space = (struct gpusim_space){0};
	chunks = mmap(NULL, count * sizeof(struct gpusim_chunk), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (chunks == MAP_FAILED)
		return false;
	space->base = base;
	space->chunk_count = count;
	space->chunks = chunks;
	return true;
}

static uint32_t chunks_for(uint64_t size)
{
	return (uint32_t)((size + GPUSIM_CHUNK - 1) / GPUSIM_CHUNK);
}

static uint32_t cells_for(uint64_t size)
{
	return (uint32_t)((size + GPUSIM_CELL - 1) / GPUSIM_CELL);
}

static bool is_small(uint64_t size)
{
	return size < GPUSIM_CHUNK / 2;
}

/* The first free run of `count` chunks; chunk_count: none. */
static uint32_t find_chunks(const struct gpusim_space *space, uint32_t count)
{
	uint32_t at = 0, found = 0;

	while (at < space->end && found < count) {
		if (space->chunks[at].run) {
			at += space->chunks[at].run;
			found = 0;
		} else {
			at++;
			found++;
		}
	}
	at -= found;
	return count <= space->chunk_count - at ? at : space->chunk_count;
}

static void use_chunks(struct gpusim_space *space, uint32_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		space->chunks[first + i] = (struct gpusim_chunk){.back = i};
	space->chunks[first].run = count;
	if (first + count > space->end)
		space->end = first + count;
}

static bool is_free(const struct gpusim_chunk *chunk)
{
	return chunk->run == 0 && chunk->back == 0;
}

static void free_chunks(struct gpusim_space *space, uint32_t first)
{
	uint32_t count = space->chunks[first].run;

	memset(&space->chunks[first], 0, count * sizeof(space->chunks[0]));
	while (space->end && is_free(&space->chunks[space->end - 1]))
		space->end--;
}

/* The first free run of `count` cells; CELLS: none. */
static uint32_t find_cells(struct gpusim_slab *slab, uint32_t count)
{
	uint32_t at = 0, found = 0;

	if (slab->longest < count)
		return CELLS;
	while (at < CELLS && found < count) {
		if (slab->run[at]) {
			at += slab->run[at];
			found = 0;
		} else {
			at++;
			found++;
		}
	}
	if (found == count)
		return at - found;
	slab->longest = count - 1;
	return CELLS;
}

static struct gpusim_slab *find_slab(const struct gpusim_space *space, uint32_t count,
				     uint32_t *cell)
{
	for (struct gpusim_slab *slab = space->slabs; slab; slab = slab->next) {
		*cell = find_cells(slab, count);
		if (*cell < CELLS)
			return slab;
	}
	return NULL;
}

static void link_slab(struct gpusim_space *space, struct gpusim_slab *slab)
{
	slab->previous = NULL;
	slab->next = space->slabs;
	if (slab->next)
		slab->next->previous = slab;
	space->slabs = slab;
}

static void unlink_slab(struct gpusim_space *space, struct gpusim_slab *slab)
{
	if (slab->previous)
		slab->previous->next = slab->next;
	else
		space->slabs = slab->next;
	if (slab->next)
		slab->next->previous = slab->previous;
}

static struct gpusim_slab *new_slab(struct gpusim_space *space)
{
	uint32_t chunk = find_chunks(space, 1);
	struct gpusim_slab *slab;

	if (chunk == space->chunk_count)
		return NULL;
	slab = calloc(1, sizeof(*slab));
	if (!slab)
		return NULL;
	slab->chunk = chunk;
	slab->free = slab->longest = CELLS;
	use_chunks(space, chunk, 1);
	space->chunks[chunk].slab = slab;
	link_slab(space, slab);
	return slab;
}

static uint64_t take_cells(struct gpusim_space *space, uint32_t count)
{
	uint32_t cell = 0;
	struct gpusim_slab *slab = find_slab(space, count, &cell);

	if (!slab) {
		slab = new_slab(space);
		cell = 0;
	}
	if (!slab)
		return 0;
	slab->run[cell] = (uint16_t)count;
	for (uint32_t i = 0; i < count; i++)
		slab->back[cell + i] = (uint16_t)i;
	slab->free -= count;
	if (!slab->free)
		unlink_slab(space, slab);
	return space->base + (uint64_t)slab->chunk * GPUSIM_CHUNK + (uint64_t)cell * GPUSIM_CELL;
}

uint64_t gpusim_space_cost(const struct gpusim_space *space, uint64_t size)
{
	uint32_t cell;

	if (!is_small(size))
		return (uint64_t)chunks_for(size) * GPUSIM_CHUNK;
	return find_slab(space, cells_for(size), &cell) ? 0 : GPUSIM_CHUNK;
}

uint64_t gpusim_space_take(struct gpusim_space *space, uint64_t size)
{
	uint32_t first;

	if (size == 0 || size > (uint64_t)space->chunk_count * GPUSIM_CHUNK)
		return 0;
	if (is_small(size))
		return take_cells(space, cells_for(size));
	first = find_chunks(space, chunks_for(size));
	if (first == space->chunk_count)
		return 0;
	use_chunks(space, first, chunks_for(size));
	return space->base + (uint64_t)first * GPUSIM_CHUNK;
}

/* The chunk that `address` is in; NULL: outside, or free. */
static struct gpusim_chunk *chunk_at(const struct gpusim_space *space, uint64_t address)
{
	uint64_t number = (address - space->base) / GPUSIM_CHUNK;
	struct gpusim_chunk *chunk;

	if (address < space->base || number >= space->end)
		return NULL;
	chunk = &space->chunks[number];
	chunk -= chunk->back;
	return chunk->run ? chunk : NULL;
}

bool gpusim_space_find(const struct gpusim_space *space, uint64_t address, uint64_t *start,
		       uint64_t *size)
{
	struct gpusim_chunk *chunk = chunk_at(space, address);
	uint32_t cell;

	if (!chunk)
		return false;
	*start = space->base + (uint64_t)(chunk - space->chunks) * GPUSIM_CHUNK;
	if (!chunk->slab) {
		*size = (uint64_t)chunk->run * GPUSIM_CHUNK;
		return true;
	}
	cell = (uint32_t)((address - *start) / GPUSIM_CELL);
	cell -= chunk->slab->back[cell];
	*start += (uint64_t)cell * GPUSIM_CELL;
	*size = (uint64_t)chunk->slab->run[cell] * GPUSIM_CELL;
	return *size != 0 && address < *start + *size;
}

static uint64_t give_cells(struct gpusim_space *space, struct gpusim_slab *slab, uint64_t address)
{
	uint32_t cell = (uint32_t)(address % GPUSIM_CHUNK / GPUSIM_CELL);
	uint32_t count = slab->run[cell];

	slab->run[cell] = 0;
	memset(&slab->back[cell], 0, count * sizeof(slab->back[0]));
	if (!slab->free)
		link_slab(space, slab);
	slab->free += count;
	slab->longest = slab->free;
	if (slab->free < CELLS)
		return 0;
	unlink_slab(space, slab);
	free_chunks(space, slab->chunk);
	free(slab);
	return GPUSIM_CHUNK;
}

bool gpusim_space_give(struct gpusim_space *space, uint64_t address, uint64_t *size,
		       uint64_t *saved)
{
	struct gpusim_chunk *chunk;
	uint64_t start;

	if (!gpusim_space_find(space, address, &start, size) || start != address)
		return false;
	chunk = chunk_at(space, address);
	if (chunk->slab) {
		*saved = give_cells(space, chunk->slab, address);
		return true;
	}
	free_chunks(space, (uint32_t)(chunk - space->chunks));
	*saved = *size;
	return true;
}
