/* The runtime's error state and its names. */
#include <stddef.h>

#include "sim/core/thread.h"
#include "sim/standin.h"

static const struct {
	int number;
	const char *name, *text;
} errors[] = {
	{0, "cudaSuccess", "no error"},
	{1, "cudaErrorInvalidValue", "invalid argument"},
	{2, "cudaErrorMemoryAllocation", "out of memory"},
	{3, "cudaErrorInitializationError", "initialization error"},
	{100, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
	{101, "cudaErrorInvalidDevice", "invalid device ordinal"},
	{400, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
	{401, "cudaErrorIllegalState", "the operation cannot be performed in the present state"},
	{500, "cudaErrorSymbolNotFound", "named symbol not found"},
	{600, "cudaErrorNotReady", "device not ready"},
	{704, "cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
	{705, "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"},
	{712, "cudaErrorHostMemoryAlreadyRegistered",
	 "part or all of the requested memory range is already mapped"},
	{713, "cudaErrorHostMemoryNotRegistered",
	 "pointer does not correspond to a registered memory region"},
	{801, "cudaErrorNotSupported", "operation not supported"},
	{900, "cudaErrorStreamCaptureUnsupported",
	 "operation not permitted when stream is capturing"},
	{901, "cudaErrorStreamCaptureInvalidated",
	 "operation failed due to a previous error during capture"},
};

static const char *find(int error, size_t text)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].number == error)
			return text ? errors[i].text : errors[i].name;
	return text ? "unrecognized error code" : "cudaErrorUnknown";
}

SIM_EXPORT const char *cudaGetErrorName(int error)
{
	return find(error, 0);
}

SIM_EXPORT const char *cudaGetErrorString(int error)
{
	return find(error, 1);
}

SIM_EXPORT int cudaGetLastError(void)
{
	struct gpusim_thread *thread = gpusim_thread();
	int error = thread->last_error;

	thread->last_error = GPUSIM_SUCCESS;
	return error;
}

SIM_EXPORT int cudaPeekAtLastError(void)
{
	return gpusim_thread()->last_error;
}
