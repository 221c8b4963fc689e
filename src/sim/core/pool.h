#ifndef SIM_CORE_POOL_H
#define SIM_CORE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/core/api.h"

/*
 * A device's memory pool, behind cudaMallocAsync.  It takes physical memory from the device in
 * steps of 32 MiB and keeps up to `threshold` bytes that it doesn't use.  Blocks have addresses of
 * their own, so it never fragments: the driver remaps to much the same effect.
 */
struct gpusim_pool {
	int device;
	uint64_t threshold;
	uint64_t used, used_high;
	uint64_t reserved, reserved_high;
	int flags[4]; /* attributes 0 to 3: what may be reused */
	bool ready;
};

/* The default pool of a device; NULL: no such device. */
SIM_EXPORT struct gpusim_pool *gpusim_pool_default(int device);
SIM_EXPORT int gpusim_pool_new(int device, struct gpusim_pool **pool);
SIM_EXPORT void gpusim_pool_free(struct gpusim_pool *pool);
SIM_EXPORT int gpusim_pool_take(struct gpusim_pool *pool, size_t size, void **pointer);
/* Gives back what any pool gave. */
SIM_EXPORT int gpusim_pool_give(void *pointer);
SIM_EXPORT void gpusim_pool_trim(struct gpusim_pool *pool, uint64_t keep);
/* Attributes by CUDA's numbers; `value` is an int for 0 to 3, else a uint64_t. */
SIM_EXPORT int gpusim_pool_get(struct gpusim_pool *pool, int attribute, void *value);
SIM_EXPORT int gpusim_pool_set(struct gpusim_pool *pool, int attribute, const void *value);

#endif
