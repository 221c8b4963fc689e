/* Stream-ordered allocation. */
#include <stddef.h>
#include <stdint.h>

#include "sim/core/pool.h"
#include "sim/core/thread.h"
#include "sim/standin.h"

/* The beginning of struct cudaMemPoolProps. */
struct pool_properties {
	int allocation, handles;
	int location, device;
};

SIM_EXPORT int cudaDeviceGetDefaultMemPool(void **pool, int device)
{
	*pool = gpusim_pool_default(device);
	return gpusim_result(*pool ? GPUSIM_SUCCESS : GPUSIM_INVALID_DEVICE);
}

SIM_EXPORT int cudaDeviceGetMemPool(void **pool, int device)
{
	return cudaDeviceGetDefaultMemPool(pool, device);
}

SIM_EXPORT int cudaMemPoolCreate(struct gpusim_pool **pool,
				 const struct pool_properties *properties)
{
	return gpusim_result(gpusim_pool_new(properties->device, pool));
}

SIM_EXPORT int cudaMemPoolDestroy(struct gpusim_pool *pool)
{
	gpusim_pool_free(pool);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaMemPoolGetAttribute(struct gpusim_pool *pool, int attribute, void *value)
{
	return gpusim_result(gpusim_pool_get(pool, attribute, value));
}

SIM_EXPORT int cudaMemPoolSetAttribute(struct gpusim_pool *pool, int attribute, void *value)
{
	return gpusim_result(gpusim_pool_set(pool, attribute, value));
}

SIM_EXPORT int cudaMemPoolSetAccess(struct gpusim_pool *pool, const void *access, size_t count)
{
	(void)pool;
	(void)access;
	(void)count;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaMemPoolTrimTo(struct gpusim_pool *pool, size_t keep)
{
	gpusim_pool_trim(pool, keep);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaMallocFromPoolAsync(void **pointer, size_t size, struct gpusim_pool *pool,
				       void *stream)
{
	(void)stream;
	return gpusim_result(gpusim_pool_take(pool, size, pointer));
}

SIM_EXPORT int cudaMallocAsync(void **pointer, size_t size, void *stream)
{
	struct gpusim_pool *pool = gpusim_pool_default(gpusim_thread()->device);

	if (!pool)
		return gpusim_result(GPUSIM_NO_DEVICE);
	return cudaMallocFromPoolAsync(pointer, size, pool, stream);
}

SIM_EXPORT int cudaFree(void *pointer);

SIM_EXPORT int cudaFreeAsync(void *pointer, void *stream)
{
	(void)stream;
	return gpusim_result(gpusim_pool_give(pointer) ? GPUSIM_INVALID_VALUE : GPUSIM_SUCCESS);
}

/* A captured graph's own memory: there is none. */
SIM_EXPORT int cudaDeviceGetGraphMemAttribute(int device, int attribute, uint64_t *value)
{
	(void)device;
	(void)attribute;
	*value = 0;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaDeviceSetGraphMemAttribute(int device, int attribute, void *value)
{
	(void)device;
	(void)attribute;
	(void)value;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaDeviceGraphMemTrim(int device)
{
	(void)device;
	return GPUSIM_SUCCESS;
}
