/* The driver's memory: allocations, copies, and virtual memory management. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "sim/core/copy.h"
#include "sim/core/device.h"
#include "sim/core/host.h"
#include "sim/core/pool.h"
#include "sim/core/space.h"
#include "sim/core/stream.h"
#include "sim/core/thread.h"
#include "sim/core/vmm.h"
#include "sim/standin.h"

/* struct CUmemAllocationProp. */
struct allocation_properties {
	int type, handles;
	int location, device;
	void *windows;
	unsigned char flags[8];
};
_Static_assert(sizeof(struct allocation_properties) == 32, "CUDA's size");

enum {
	TYPE_PINNED = 1,
	LOCATION_DEVICE = 1
};

SIM_EXPORT int cuMemAlloc_v2(void **pointer, size_t size)
{
	if (size == 0)
		return GPUSIM_INVALID_VALUE;
	return gpusim_memory_take(gpusim_thread()->device, size, pointer);
}

SIM_EXPORT int cuMemFree_v2(void *pointer)
{
	return gpusim_memory_give(pointer);
}

SIM_EXPORT int cuMemAllocAsync(void **pointer, size_t size, void *stream)
{
	struct gpusim_pool *pool = gpusim_pool_default(gpusim_thread()->device);

	(void)stream;
	return pool ? gpusim_pool_take(pool, size, pointer) : GPUSIM_NO_DEVICE;
}

SIM_EXPORT int cuMemFreeAsync(void *pointer, void *stream)
{
	(void)stream;
	return gpusim_pool_give(pointer);
}

SIM_EXPORT int cuMemAllocManaged(void **pointer, size_t size, unsigned flags)
{
	(void)flags;
	return gpusim_host_take(size, GPUSIM_HOST_MANAGED, pointer);
}

SIM_EXPORT int cuMemHostAlloc(void **pointer, size_t size, unsigned flags)
{
	(void)flags;
	return gpusim_host_take(size, GPUSIM_HOST_PINNED, pointer);
}

SIM_EXPORT int cuMemAllocHost_v2(void **pointer, size_t size)
{
	return cuMemHostAlloc(pointer, size, 0);
}

SIM_EXPORT int cuMemFreeHost(void *pointer)
{
	return gpusim_host_give(pointer);
}

SIM_EXPORT int cuMemHostRegister_v2(void *pointer, size_t size, unsigned flags)
{
	(void)flags;
	return gpusim_host_register(pointer, size);
}

SIM_EXPORT int cuMemHostUnregister(void *pointer)
{
	return gpusim_host_unregister(pointer);
}

SIM_EXPORT int cuMemHostGetDevicePointer_v2(void **device, void *host, unsigned flags)
{
	(void)flags;
	*device = host;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuMemGetInfo_v2(size_t *free, size_t *total)
{
	uint64_t all, used;

	gpusim_device_memory(gpusim_thread()->device, &all, &used);
	*free = all - used;
	*total = all;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuMemGetAddressRange_v2(void **start, size_t *size, void *pointer)
{
	void *begin;
	size_t length;

	if (!gpusim_memory_find(pointer, &begin, &length))
		return GPUSIM_NOT_FOUND;
	if (start)
		*start = begin;
	if (size)
		*size = length;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuMemcpy(void *to, const void *from, size_t size)
{
	gpusim_copy(to, from, size);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuMemcpyAsync(void *to, const void *from, size_t size, void *stream)
{
	gpusim_capture_add(stream);
	return cuMemcpy(to, from, size);
}

SIM_EXPORT int cuMemcpyHtoD_v2(void *to, const void *from, size_t size)
{
	return cuMemcpy(to, from, size);
}

SIM_EXPORT int cuMemcpyDtoH_v2(void *to, const void *from, size_t size)
{
	return cuMemcpy(to, from, size);
}

SIM_EXPORT int cuMemcpyDtoD_v2(void *to, const void *from, size_t size)
{
	return cuMemcpy(to, from, size);
}

SIM_EXPORT int cuMemcpyHtoDAsync_v2(void *to, const void *from, size_t size, void *stream)
{
	return cuMemcpyAsync(to, from, size, stream);
}

SIM_EXPORT int cuMemcpyDtoHAsync_v2(void *to, const void *from, size_t size, void *stream)
{
	return cuMemcpyAsync(to, from, size, stream);
}

SIM_EXPORT int cuMemcpyDtoDAsync_v2(void *to, const void *from, size_t size, void *stream)
{
	return cuMemcpyAsync(to, from, size, stream);
}

SIM_EXPORT int cuMemsetD8_v2(void *to, unsigned char value, size_t count)
{
	gpusim_fill(to, value, count);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuMemsetD8Async(void *to, unsigned char value, size_t count, void *stream)
{
	gpusim_capture_add(stream);
	return cuMemsetD8_v2(to, value, count);
}

/* A word at a time, so that the shadow has them; a long fill is only noted as overwritten. */
SIM_EXPORT int cuMemsetD32_v2(uint32_t *to, uint32_t value, size_t count)
{
	uint32_t words[1024];

	if (value == 0 || count > sizeof(words) / sizeof(words[0])) {
		gpusim_fill(to, 0, count * sizeof(value));
		return GPUSIM_SUCCESS;
	}
	for (size_t i = 0; i < count; i++)
		words[i] = value;
	gpusim_copy(to, words, count * sizeof(value));
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuMemsetD32Async(uint32_t *to, uint32_t value, size_t count, void *stream)
{
	(void)stream;
	return cuMemsetD32_v2(to, value, count);
}

SIM_EXPORT int cuMemAddressReserve(uint64_t *pointer, size_t size, size_t alignment, uint64_t wish,
				   unsigned long long flags)
{
	(void)alignment;
	(void)wish;
	(void)flags;
	return gpusim_vmm_reserve(size, pointer);
}

SIM_EXPORT int cuMemAddressFree(uint64_t pointer, size_t size)
{
	return gpusim_vmm_unreserve(pointer, size);
}

SIM_EXPORT int cuMemGetAllocationGranularity(size_t *granularity,
					     const struct allocation_properties *properties,
					     int option)
{
	(void)properties;
	(void)option;
	*granularity = GPUSIM_CHUNK;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuMemCreate(uint64_t *handle, size_t size,
			   const struct allocation_properties *properties, unsigned long long flags)
{
	(void)flags;
	return gpusim_vmm_create(properties->device, size, handle);
}

SIM_EXPORT int cuMemRelease(uint64_t handle)
{
	return gpusim_vmm_release(handle);
}

SIM_EXPORT int cuMemMap(uint64_t pointer, size_t size, size_t offset, uint64_t handle,
			unsigned long long flags)
{
	(void)flags;
	return offset ? GPUSIM_INVALID_VALUE : gpusim_vmm_map(pointer, size, handle);
}

SIM_EXPORT int cuMemUnmap(uint64_t pointer, size_t size)
{
	return gpusim_vmm_unmap(pointer, size);
}

SIM_EXPORT int cuMemSetAccess(uint64_t pointer, size_t size, const void *access, size_t count)
{
	(void)pointer;
	(void)size;
	(void)access;
	(void)count;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuMemRetainAllocationHandle(uint64_t *handle, uint64_t pointer)
{
	return gpusim_vmm_retain(pointer, handle);
}

SIM_EXPORT int cuMemGetAllocationPropertiesFromHandle(struct allocation_properties *properties,
						      uint64_t handle)
{
	*properties = (struct allocation_properties){
		.type = TYPE_PINNED,
		.location = LOCATION_DEVICE,
		.device = gpusim_vmm_device_of_handle(handle),
	};
	return GPUSIM_SUCCESS;
}

enum {
	POINTER_CONTEXT = 1,
	POINTER_MEMORY_TYPE = 2,
	POINTER_DEVICE = 3,
	POINTER_HOST = 4,
	POINTER_BUFFER = 7,
	POINTER_MANAGED = 8,
	POINTER_ORDINAL = 9,
	POINTER_START = 11,
	POINTER_SIZE = 12,
	MEMORY_HOST = 1,
	MEMORY_DEVICE = 2,
};

int cuDevicePrimaryCtxRetain(void **context, int device);

static int device_attribute(void *value, int attribute, void *pointer, int device)
{
	void *start = pointer;
	size_t size = 0;

	gpusim_memory_find(pointer, &start, &size);
	switch (attribute) {
	case POINTER_CONTEXT:
		return cuDevicePrimaryCtxRetain(value, device);
	case POINTER_MEMORY_TYPE:
		*(unsigned *)value = MEMORY_DEVICE;
		return GPUSIM_SUCCESS;
	case POINTER_DEVICE:
		*(void **)value = pointer;
		return GPUSIM_SUCCESS;
	case POINTER_BUFFER:
	case POINTER_START:
		*(void **)value = start;
		return GPUSIM_SUCCESS;
	case POINTER_MANAGED:
		*(unsigned *)value = 0;
		return GPUSIM_SUCCESS;
	case POINTER_ORDINAL:
		*(int *)value = device;
		return GPUSIM_SUCCESS;
	case POINTER_SIZE:
		*(size_t *)value = size;
		return GPUSIM_SUCCESS;
	}
	return GPUSIM_INVALID_VALUE;
}

SIM_EXPORT int cuPointerGetAttribute(void *value, int attribute, void *pointer)
{
	int device = gpusim_device_of(pointer);
	enum gpusim_host_kind kind;

	if (device >= 0)
		return device_attribute(value, attribute, pointer, device);
	kind = gpusim_host_kind_of(pointer);
	if (kind == GPUSIM_HOST_NONE)
		return GPUSIM_INVALID_VALUE;
	switch (attribute) {
	case POINTER_MEMORY_TYPE:
		*(unsigned *)value = MEMORY_HOST;
		return GPUSIM_SUCCESS;
	case POINTER_DEVICE:
	case POINTER_HOST:
		*(void **)value = pointer;
		return GPUSIM_SUCCESS;
	case POINTER_MANAGED:
		*(unsigned *)value = kind == GPUSIM_HOST_MANAGED;
		return GPUSIM_SUCCESS;
	case POINTER_ORDINAL:
		*(int *)value = gpusim_thread()->device;
		return GPUSIM_SUCCESS;
	}
	return GPUSIM_INVALID_VALUE;
}
