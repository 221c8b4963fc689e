#ifndef SIM_CORE_SPACE_H
#define SIM_CORE_SPACE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Addresses to hand out as device memory, out of a range nobody can touch.
 *
 * Like the driver, it works in chunks of 2 MiB: what is smaller than half a chunk shares one with
 * others (a slab, 512-byte cells), anything else has whole chunks.  First fit.
 * The caller holds the core's lock.
 */
struct gpusim_chunk;
struct gpusim_slab;
struct gpusim_space {
	uint64_t base;
	uint32_t chunk_count;
	uint32_t end;		     /* no chunk at or after it is in use */
	struct gpusim_chunk *chunks; /* owned; one per chunk, mapped, touched where used */
	struct gpusim_slab *slabs;   /* owned; those with a free cell */
};

enum {
	GPUSIM_CHUNK = 2 << 20,
	GPUSIM_CELL = 512
};

/* False: no memory for the book-keeping. */
bool gpusim_space_init(struct gpusim_space *space, uint64_t base, uint64_t size);

/* How many bytes of chunks space_take() would newly use for `size` bytes. */
uint64_t gpusim_space_cost(const struct gpusim_space *space, uint64_t size);

/* `size` > 0 bytes of address space; 0: none left. */
uint64_t gpusim_space_take(struct gpusim_space *space, uint64_t size);

/*
 * Give back what space_take() returned.  `*size` is what was asked for, `*saved` the bytes of
 * chunks that nobody uses any more.  False: not an address we handed out.
 */
bool gpusim_space_give(struct gpusim_space *space, uint64_t address, uint64_t *size,
		       uint64_t *saved);

/* The allocation that `address` points into; false: none. */
bool gpusim_space_find(const struct gpusim_space *space, uint64_t address, uint64_t *start,
		       uint64_t *size);

#endif
