/* Memory and events of another process.  Its bytes stay there: only sizes and addresses are real.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "sim/core/device.h"
#include "sim/core/stream.h"
#include "sim/core/thread.h"
#include "sim/standin.h"

/* CUDA's 64 bytes, as we fill them. */
struct ipc_handle {
	uint64_t address, size;
	char rest[48];
};
_Static_assert(sizeof(struct ipc_handle) == 64, "CUDA's size");

SIM_EXPORT int cudaIpcGetMemHandle(struct ipc_handle *handle, void *pointer)
{
	void *start;
	size_t size;

	if (!gpusim_memory_find(pointer, &start, &size))
		return gpusim_result(GPUSIM_INVALID_VALUE);
	memset(handle, 0, sizeof(*handle));
	handle->address = (uint64_t)start;
	handle->size = size;
	return GPUSIM_SUCCESS;
}

/* Addresses alone: the memory is charged where it was allocated. */
SIM_EXPORT int cudaIpcOpenMemHandle(void **pointer, struct ipc_handle handle, unsigned flags)
{
	(void)flags;
	return gpusim_result(gpusim_address_take(gpusim_thread()->device, handle.size, pointer));
}

SIM_EXPORT int cudaIpcCloseMemHandle(void *pointer)
{
	uint64_t size;

	return gpusim_result(gpusim_address_give(pointer, &size) ? GPUSIM_SUCCESS
								 : GPUSIM_INVALID_VALUE);
}

SIM_EXPORT int cudaIpcGetEventHandle(struct ipc_handle *handle, void *event)
{
	memset(handle, 0, sizeof(*handle));
	handle->address = (uint64_t)event;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaIpcOpenEventHandle(void **event, struct ipc_handle handle)
{
	(void)handle;
	return gpusim_result(gpusim_event_new(event));
}
