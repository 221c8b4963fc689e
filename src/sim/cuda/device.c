/* The driver's devices and contexts.  Each device has one context, its primary one. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "sim/core/config.h"
#include "sim/core/device.h"
#include "sim/core/properties.h"
#include "sim/core/stream.h"
#include "sim/core/thread.h"
#include "sim/standin.h"

/* A context is the address of its device's byte here. */
static char contexts[GPUSIM_DEVICES_MAX];

static int valid(int device)
{
	return device >= 0 && device < gpusim_device_count();
}

SIM_EXPORT int cuInit(unsigned flags)
{
	(void)flags;
	return gpusim_device_count() ? GPUSIM_SUCCESS : GPUSIM_NO_DEVICE;
}

SIM_EXPORT int cuDriverGetVersion(int *version)
{
	*version = GPUSIM_DRIVER_VERSION;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuDeviceGetCount(int *count)
{
	*count = gpusim_device_count();
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuDeviceGet(int *device, int ordinal)
{
	if (!valid(ordinal))
		return GPUSIM_INVALID_DEVICE;
	*device = ordinal;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuDeviceGetName(char *name, int size, int device)
{
	if (!valid(device))
		return GPUSIM_INVALID_DEVICE;
	snprintf(name, (size_t)size, "%s", gpusim_device_name);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuDeviceGetUuid(unsigned char *uuid, int device)
{
	if (!valid(device))
		return GPUSIM_INVALID_DEVICE;
	memcpy(uuid, gpusim_config()->uuid[gpusim_device_physical(device)], 16);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuDeviceGetUuid_v2(unsigned char *uuid, int device)
{
	return cuDeviceGetUuid(uuid, device);
}

SIM_EXPORT int cuDeviceGetPCIBusId(char *text, int size, int device)
{
	if (!valid(device))
		return GPUSIM_INVALID_DEVICE;
	snprintf(text, (size_t)size, "0000:%02X:00.0", gpusim_device_physical(device) + 1);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuDeviceComputeCapability(int *major, int *minor, int device)
{
	*major = gpusim_attribute(device, GPUSIM_CAPABILITY_MAJOR);
	*minor = gpusim_attribute(device, GPUSIM_CAPABILITY_MINOR);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	if (!valid(device))
		return GPUSIM_INVALID_DEVICE;
	*value = gpusim_attribute(device, attribute);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
	uint64_t total, used;

	gpusim_device_memory(device, &total, &used);
	*bytes = total;
	return total ? GPUSIM_SUCCESS : GPUSIM_INVALID_DEVICE;
}

SIM_EXPORT int cuDeviceCanAccessPeer(int *can, int device, int peer)
{
	*can = valid(device) && valid(peer) && device != peer;
	return GPUSIM_SUCCESS;
}

/* PyTorch 2.2 takes a device without an active context for one that isn't used. */
SIM_EXPORT int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
	if (!valid(device))
		return GPUSIM_INVALID_DEVICE;
	*flags = 0;
	*active = 1;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuDevicePrimaryCtxRetain(void **context, int device)
{
	if (!valid(device))
		return GPUSIM_INVALID_DEVICE;
	*context = &contexts[device];
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuDevicePrimaryCtxRelease_v2(int device)
{
	return valid(device) ? GPUSIM_SUCCESS : GPUSIM_INVALID_DEVICE;
}

SIM_EXPORT int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags)
{
	(void)flags;
	return cuDevicePrimaryCtxRelease_v2(device);
}

SIM_EXPORT int cuDevicePrimaryCtxReset_v2(int device)
{
	return cuDevicePrimaryCtxRelease_v2(device);
}

SIM_EXPORT int cuCtxCreate_v2(void **context, unsigned flags, int device)
{
	(void)flags;
	return cuDevicePrimaryCtxRetain(context, device);
}

SIM_EXPORT int cuCtxCreate_v4(void **context, void *parameters, unsigned flags, int device)
{
	(void)parameters;
	return cuCtxCreate_v2(context, flags, device);
}

SIM_EXPORT int cuCtxDestroy_v2(void *context)
{
	(void)context;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuCtxGetCurrent(void **context)
{
	*context = gpusim_device_count() ? &contexts[gpusim_thread()->device] : NULL;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuCtxSetCurrent(void *context)
{
	int device = (int)((char *)context - contexts);

	if (context && valid(device))
		gpusim_thread()->device = device;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuCtxPushCurrent_v2(void *context)
{
	struct gpusim_thread *thread = gpusim_thread();

	if (thread->context_depth == GPUSIM_CONTEXTS)
		return GPUSIM_INVALID_VALUE;
	thread->contexts[thread->context_depth++] = thread->device;
	return cuCtxSetCurrent(context);
}

SIM_EXPORT int cuCtxPopCurrent_v2(void **context)
{
	struct gpusim_thread *thread = gpusim_thread();

	if (thread->context_depth == 0)
		return 201 /* CUDA_ERROR_INVALID_CONTEXT */;
	if (context)
		*context = &contexts[thread->device];
	thread->device = thread->contexts[--thread->context_depth];
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuCtxGetDevice(int *device)
{
	*device = gpusim_thread()->device;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuCtxSynchronize(void)
{
	gpusim_synchronize();
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuCtxGetApiVersion(void *context, unsigned *version)
{
	(void)context;
	*version = GPUSIM_DRIVER_VERSION;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
	if (least)
		*least = 0;
	if (greatest)
		*greatest = -5;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuCtxGetLimit(size_t *value, int limit)
{
	*value = limit == 0 ? 1024 : 8 << 20;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuCtxSetLimit(int limit, size_t value)
{
	(void)limit;
	(void)value;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuCtxEnablePeerAccess(void *context, unsigned flags)
{
	(void)context;
	(void)flags;
	return GPUSIM_SUCCESS;
}
