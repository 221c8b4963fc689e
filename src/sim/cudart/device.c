/* Which devices there are, and which one a thread uses. */
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

#if SIM_MAJOR == 12
enum {
	RUNTIME_VERSION = 12080
};
#else
enum {
	RUNTIME_VERSION = 13020
};
#endif

SIM_EXPORT int cudaRuntimeGetVersion(int *version)
{
	*version = RUNTIME_VERSION;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaDriverGetVersion(int *version)
{
	*version = GPUSIM_DRIVER_VERSION;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaGetDeviceCount(int *count)
{
	gpusim_thread();
	*count = gpusim_device_count();
	return gpusim_result(*count ? GPUSIM_SUCCESS : GPUSIM_NO_DEVICE);
}

SIM_EXPORT int cudaSetDevice(int device)
{
	if (device < 0 || device >= gpusim_device_count())
		return gpusim_result(GPUSIM_INVALID_DEVICE);
	gpusim_thread()->device = device;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
	(void)device_flags;
	(void)flags;
	if (device < 0 || device >= gpusim_device_count())
		return gpusim_result(GPUSIM_INVALID_DEVICE);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaGetDevice(int *device)
{
	if (!gpusim_device_count())
		return gpusim_result(GPUSIM_NO_DEVICE);
	*device = gpusim_thread()->device;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaDeviceGetAttribute(int *value, int attribute, int device)
{
	if (device < 0 || device >= gpusim_device_count())
		return gpusim_result(GPUSIM_INVALID_DEVICE);
	*value = gpusim_attribute(device, attribute);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaDeviceSynchronize(void)
{
	gpusim_synchronize();
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaThreadSynchronize(void)
{
	return cudaDeviceSynchronize();
}

/* What a reset would free is the program's own; nothing of it is taken away. */
SIM_EXPORT int cudaDeviceReset(void)
{
	gpusim_synchronize();
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	if (least)
		*least = 0;
	if (greatest)
		*greatest = -5;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
	int count = gpusim_device_count();

	if (device < 0 || device >= count || peer < 0 || peer >= count)
		return gpusim_result(GPUSIM_INVALID_DEVICE);
	*can = device != peer;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
	(void)flags;
	if (peer < 0 || peer >= gpusim_device_count())
		return gpusim_result(GPUSIM_INVALID_DEVICE);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaDeviceDisablePeerAccess(int peer)
{
	return cudaDeviceEnablePeerAccess(peer, 0);
}

SIM_EXPORT int cudaDeviceGetP2PAttribute(int *value, int attribute, int from, int to)
{
	(void)from;
	(void)to;
	*value = attribute == 2 /* access supported */ || attribute == 4;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaDeviceGetPCIBusId(char *text, int size, int device)
{
	int physical = gpusim_device_physical(device);

	if (physical < 0)
		return gpusim_result(GPUSIM_INVALID_DEVICE);
	snprintf(text, (size_t)size, "0000:%02X:00.0", physical + 1);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaDeviceGetByPCIBusId(int *device, const char *text)
{
	char name[32];

	for (int i = 0; i < gpusim_device_count(); i++) {
		cudaDeviceGetPCIBusId(name, sizeof(name), i);
		if (strcasecmp(name, text) == 0) {
			*device = i;
			return GPUSIM_SUCCESS;
		}
	}
	return gpusim_result(GPUSIM_INVALID_DEVICE);
}

SIM_EXPORT int cudaDeviceGetLimit(size_t *value, int limit)
{
	static const size_t limits[] = {1024, 1 << 20, 8 << 20}; /* stack, printf, heap */

	*value = limit >= 0 && limit < 3 ? limits[limit] : 0;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaDeviceSetLimit(int limit, size_t value)
{
	(void)limit;
	(void)value;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaDeviceSetCacheConfig(int config)
{
	(void)config;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaDeviceGetCacheConfig(int *config)
{
	*config = 0;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaSetDeviceFlags(unsigned flags)
{
	(void)flags;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaGetDeviceFlags(unsigned *flags)
{
	*flags = 0;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaProfilerStart(void)
{
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaProfilerStop(void)
{
	return GPUSIM_SUCCESS;
}
