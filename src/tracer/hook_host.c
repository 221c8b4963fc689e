/*
 * The CUDA runtime's pinned memory of the host: what PyTorch's pin_memory() and the
 * DataLoader's pinning thread get.  PyTorch keeps what was freed for the next one.
 */
#include <stddef.h>

#include <driver_types.h>

#include "tracer/guard.h"
#include "tracer/host.h"
#include "tracer/real.h"

#include "tracer/banned.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT cudaError_t cudaHostAlloc(void **ptr, size_t size, unsigned int flags);
EXPORT cudaError_t cudaMallocHost(void **ptr, size_t size);
EXPORT cudaError_t cudaFreeHost(void *ptr);
EXPORT cudaError_t cudaHostRegister(void *ptr, size_t size, unsigned int flags);
EXPORT cudaError_t cudaHostUnregister(void *ptr);

static void note(cudaError_t error, const void *ptr, size_t size)
{
	if (tracer_enter() && error == cudaSuccess && ptr)
		host_pinned(ptr, size);
	tracer_leave();
}

/* Before the call: after it the address can be handed out again at once. */
static void note_free(const void *ptr)
{
	if (tracer_enter() && ptr)
		host_unpinned(ptr);
	tracer_leave();
}

EXPORT cudaError_t cudaHostAlloc(void **ptr, size_t size, unsigned int flags)
{
	cudaError_t (*real)(void **, size_t, unsigned int) = real_find_loaded(REAL_cudaHostAlloc);
	cudaError_t error;

	if (!real)
		return cudaErrorSharedObjectSymbolNotFound;
	error = real(ptr, size, flags);
	note(error, error == cudaSuccess && ptr ? *ptr : NULL, size);
	return error;
}

EXPORT cudaError_t cudaMallocHost(void **ptr, size_t size)
{
	cudaError_t (*real)(void **, size_t) = real_find_loaded(REAL_cudaMallocHost);
	cudaError_t error;

	if (!real)
		return cudaErrorSharedObjectSymbolNotFound;
	error = real(ptr, size);
	note(error, error == cudaSuccess && ptr ? *ptr : NULL, size);
	return error;
}

EXPORT cudaError_t cudaFreeHost(void *ptr)
{
	cudaError_t (*real)(void *) = real_find_loaded(REAL_cudaFreeHost);

	if (!real)
		return cudaErrorSharedObjectSymbolNotFound;
	note_free(ptr);
	return real(ptr);
}

EXPORT cudaError_t cudaHostRegister(void *ptr, size_t size, unsigned int flags)
{
	cudaError_t (*real)(void *, size_t, unsigned int) = real_find_loaded(REAL_cudaHostRegister);
	cudaError_t error;

	if (!real)
		return cudaErrorSharedObjectSymbolNotFound;
	error = real(ptr, size, flags);
	note(error, ptr, size);
	return error;
}

EXPORT cudaError_t cudaHostUnregister(void *ptr)
{
	cudaError_t (*real)(void *) = real_find_loaded(REAL_cudaHostUnregister);

	if (!real)
		return cudaErrorSharedObjectSymbolNotFound;
	note_free(ptr);
	return real(ptr);
}
