/* Device memory, pinned and managed host memory, and what a pointer is. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "sim/core/device.h"
#include "sim/core/host.h"
#include "sim/core/pool.h"
#include "sim/core/thread.h"
#include "sim/standin.h"

/* struct cudaPointerAttributes; CUDA 12 has no reserved words. */
struct pointer_attributes {
	int type, device;
	void *device_pointer, *host_pointer;
#if SIM_MAJOR != 12
	long reserved[8];
#endif
};
_Static_assert(sizeof(struct pointer_attributes) == (SIM_MAJOR == 12 ? 24 : 88), "CUDA's size");

enum {
	TYPE_HOST = 1,
	TYPE_DEVICE = 2,
	TYPE_MANAGED = 3
};

SIM_EXPORT int cudaMalloc(void **pointer, size_t size)
{
	return gpusim_result(gpusim_memory_take(gpusim_thread()->device, size, pointer));
}

/* Also what cudaMallocAsync gave. */
SIM_EXPORT int cudaFree(void *pointer)
{
	int error = gpusim_memory_give(pointer);

	if (error)
		error = gpusim_pool_give(pointer);
	if (error)
		error = gpusim_host_give(pointer);
	return gpusim_result(error);
}

SIM_EXPORT int cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
	*pitch = (width + 511) / 512 * 512;
	return cudaMalloc(pointer, *pitch * height);
}

SIM_EXPORT int cudaMallocManaged(void **pointer, size_t size, unsigned flags)
{
	(void)flags;
	return gpusim_result(gpusim_host_take(size, GPUSIM_HOST_MANAGED, pointer));
}

SIM_EXPORT int cudaHostAlloc(void **pointer, size_t size, unsigned flags)
{
	(void)flags;
	return gpusim_result(gpusim_host_take(size, GPUSIM_HOST_PINNED, pointer));
}

SIM_EXPORT int cudaMallocHost(void **pointer, size_t size)
{
	return cudaHostAlloc(pointer, size, 0);
}

SIM_EXPORT int cudaFreeHost(void *pointer)
{
	return gpusim_result(gpusim_host_give(pointer));
}

SIM_EXPORT int cudaHostRegister(void *pointer, size_t size, unsigned flags)
{
	(void)flags;
	return gpusim_result(gpusim_host_register(pointer, size));
}

SIM_EXPORT int cudaHostUnregister(void *pointer)
{
	return gpusim_result(gpusim_host_unregister(pointer));
}

SIM_EXPORT int cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
	(void)flags;
	*device = host;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaHostGetFlags(unsigned *flags, void *host)
{
	*flags = 0;
	if (gpusim_host_kind_of(host) == GPUSIM_HOST_NONE)
		return gpusim_result(GPUSIM_INVALID_VALUE);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaMemGetInfo(size_t *free, size_t *total)
{
	uint64_t all, used;

	gpusim_device_memory(gpusim_thread()->device, &all, &used);
	*free = all - used;
	*total = all;
	return gpusim_result(all ? GPUSIM_SUCCESS : GPUSIM_NO_DEVICE);
}

SIM_EXPORT int cudaPointerGetAttributes(struct pointer_attributes *attributes, const void *pointer)
{
	int device = gpusim_device_of(pointer);

	memset(attributes, 0, sizeof(*attributes));
	if (device >= 0) {
		attributes->type = TYPE_DEVICE;
		attributes->device = device;
		attributes->device_pointer = (void *)pointer;
		return GPUSIM_SUCCESS;
	}
	attributes->host_pointer = (void *)pointer;
	switch (gpusim_host_kind_of(pointer)) {
	case GPUSIM_HOST_NONE:
		attributes->device = -1;
		return GPUSIM_SUCCESS;
	case GPUSIM_HOST_MANAGED:
		attributes->type = TYPE_MANAGED;
		break;
	case GPUSIM_HOST_PINNED:
	case GPUSIM_HOST_REGISTERED:
		attributes->type = TYPE_HOST;
		break;
	}
	attributes->device = gpusim_thread()->device;
	attributes->device_pointer = (void *)pointer;
	return GPUSIM_SUCCESS;
}
