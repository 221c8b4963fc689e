/* NVML.  PyTorch wants all of what it uses or none of it. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "sim/core/config.h"
#include "sim/core/device.h"
#include "sim/core/properties.h"
#include "sim/standin.h"

enum {
	INVALID_ARGUMENT = 2,
	NOT_SUPPORTED = 3,
	NOT_FOUND = 6,
	TOO_SMALL = 7
};

/* A device's handle is the address of its byte here, by physical number. */
static char handles[GPUSIM_DEVICES_MAX];

static int number_of(void *handle)
{
	return (int)((char *)handle - handles);
}

SIM_EXPORT int nvmlInit_v2(void)
{
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int nvmlInit(void)
{
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int nvmlInitWithFlags(unsigned flags)
{
	(void)flags;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int nvmlShutdown(void)
{
	return GPUSIM_SUCCESS;
}

SIM_EXPORT const char *nvmlErrorString(int error)
{
	switch (error) {
	case GPUSIM_SUCCESS:
		return "Success";
	case INVALID_ARGUMENT:
		return "Invalid Argument";
	case NOT_SUPPORTED:
		return "Not Supported";
	case NOT_FOUND:
		return "Not Found";
	}
	return "Unknown Error";
}

SIM_EXPORT int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
	*version = GPUSIM_DRIVER_VERSION;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int nvmlSystemGetCudaDriverVersion(int *version)
{
	return nvmlSystemGetCudaDriverVersion_v2(version);
}

SIM_EXPORT int nvmlSystemGetDriverVersion(char *text, unsigned size)
{
	snprintf(text, size, "595.00");
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int nvmlDeviceGetCount_v2(unsigned *count)
{
	*count = (unsigned)gpusim_config()->physical_count;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int nvmlDeviceGetCount(unsigned *count)
{
	return nvmlDeviceGetCount_v2(count);
}

SIM_EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
	if (index >= (unsigned)gpusim_config()->physical_count)
		return INVALID_ARGUMENT;
	*device = &handles[index];
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int nvmlDeviceGetHandleByIndex(unsigned index, void **device)
{
	return nvmlDeviceGetHandleByIndex_v2(index, device);
}

/* "0000:01:00.0", in whatever number of digits the domain has. */
SIM_EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *text, void **device)
{
	unsigned domain, bus;

	if (sscanf(text, "%x:%x:", &domain, &bus) != 2)
		return INVALID_ARGUMENT;
	if (domain || bus == 0 || bus > (unsigned)gpusim_config()->physical_count)
		return NOT_FOUND;
	*device = &handles[bus - 1];
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
	char text[41];

	for (int i = 0; i < gpusim_config()->physical_count; i++) {
		gpusim_uuid_text(i, text);
		if (strcasecmp(text, uuid) == 0) {
			*device = &handles[i];
			return GPUSIM_SUCCESS;
		}
	}
	return NOT_FOUND;
}

SIM_EXPORT int nvmlDeviceGetUUID(void *device, char *text, unsigned size)
{
	char uuid[41];

	gpusim_uuid_text(number_of(device), uuid);
	if (size < sizeof(uuid))
		return TOO_SMALL;
	memcpy(text, uuid, sizeof(uuid));
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int nvmlDeviceGetIndex(void *device, unsigned *index)
{
	*index = (unsigned)number_of(device);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int nvmlDeviceGetName(void *device, char *text, unsigned size)
{
	(void)device;
	snprintf(text, size, "%s", gpusim_device_name);
	return GPUSIM_SUCCESS;
}

/* nvmlPciInfo_t. */
struct pci_info {
	char legacy_id[16];
	unsigned domain, bus, device, id, subsystem;
	char bus_id[32];
};

SIM_EXPORT int nvmlDeviceGetPciInfo_v3(void *device, struct pci_info *info)
{
	int bus = number_of(device) + 1;

	memset(info, 0, sizeof(*info));
	info->bus = (unsigned)bus;
	snprintf(info->legacy_id, sizeof(info->legacy_id), "0000:%02X:00.0", bus);
	snprintf(info->bus_id, sizeof(info->bus_id), "00000000:%02X:00.0", bus);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor)
{
	(void)device;
	*major = gpusim_config()->major;
	*minor = gpusim_config()->minor;
	return GPUSIM_SUCCESS;
}

/* What this process uses; others are not seen. */
static uint64_t used_by_us(int physical)
{
	uint64_t total, used;

	for (int i = 0; i < gpusim_device_count(); i++) {
		if (gpusim_device_physical(i) != physical)
			continue;
		gpusim_device_memory(i, &total, &used);
		return used;
	}
	return 0;
}

/* nvmlMemory_t. */
struct memory {
	unsigned long long total, free, used;
};

SIM_EXPORT int nvmlDeviceGetMemoryInfo(void *device, struct memory *memory)
{
	int physical = number_of(device);

	memory->total = gpusim_config()->memory[physical];
	memory->used = used_by_us(physical);
	memory->free = memory->total - memory->used;
	return GPUSIM_SUCCESS;
}

/* nvmlMemory_v2_t. */
struct memory_v2 {
	unsigned version;
	unsigned long long total, reserved, free, used;
};

SIM_EXPORT int nvmlDeviceGetMemoryInfo_v2(void *device, struct memory_v2 *memory)
{
	struct memory plain;

	nvmlDeviceGetMemoryInfo(device, &plain);
	memory->total = plain.total;
	memory->reserved = 0;
	memory->free = plain.free;
	memory->used = plain.used;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int nvmlDeviceGetComputeRunningProcesses(void *device, unsigned *count, void *processes)
{
	(void)device;
	(void)processes;
	*count = 0;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int nvmlDeviceGetComputeRunningProcesses_v2(void *device, unsigned *count,
						       void *processes)
{
	return nvmlDeviceGetComputeRunningProcesses(device, count, processes);
}

SIM_EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count,
						       void *processes)
{
	return nvmlDeviceGetComputeRunningProcesses(device, count, processes);
}

/* nvmlUtilization_t. */
struct utilization {
	unsigned gpu, memory;
};

SIM_EXPORT int nvmlDeviceGetUtilizationRates(void *device, struct utilization *rates)
{
	(void)device;
	*rates = (struct utilization){0};
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int nvmlDeviceGetP2PStatus(void *device, void *peer, int index, int *status)
{
	(void)device;
	(void)peer;
	(void)index;
	*status = GPUSIM_SUCCESS;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int nvmlDeviceGetNvLinkState(void *device, unsigned link, unsigned *active)
{
	(void)device;
	(void)link;
	*active = 0;
	return NOT_SUPPORTED;
}

SIM_EXPORT int nvmlDeviceGetNvLinkRemoteDeviceType(void *device, unsigned link, int *type)
{
	(void)device;
	(void)link;
	(void)type;
	return NOT_SUPPORTED;
}

SIM_EXPORT int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link,
						   struct pci_info *info)
{
	(void)device;
	(void)link;
	(void)info;
	return NOT_SUPPORTED;
}

/* No fabric: all but the version, whose lower bits are the structure's size, is zero. */
SIM_EXPORT int nvmlDeviceGetGpuFabricInfoV(void *device, unsigned *info)
{
	size_t size = *info & 0xffffff;

	(void)device;
	if (size < sizeof(*info) || size > 256)
		return INVALID_ARGUMENT;
	memset(info + 1, 0, size - sizeof(*info));
	return GPUSIM_SUCCESS;
}
