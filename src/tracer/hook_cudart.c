/*
 * The CUDA runtime: who takes memory from the driver.  PyTorch's allocator calls
 * these for its segments, with its device mutex held.
 *
 * We are never within tracer_enter() while the real function runs: one that is left
 * by longjmp() or an exception would blind the thread for good.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <driver_types.h>

#include "tracer/agent.h"
#include "tracer/guard.h"
#include "tracer/ledger.h"
#include "tracer/mark.h"
#include "tracer/native_stack.h"
#include "tracer/real.h"
#include "tracer/steps.h"
#include "tracer/thread.h"
#include "tracer/tracer.h"

#include "tracer/banned.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT cudaError_t cudaMalloc(void **ptr, size_t size);
EXPORT cudaError_t cudaFree(void *ptr);
EXPORT cudaError_t cudaSetDevice(int device);
EXPORT cudaError_t cudaGetDeviceCount(int *count);
EXPORT cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total);

/* PyTorch's allocator asks for its segments from libc10_cuda. */
static bool is_segment(const void *caller)
{
	struct native_frame frame;
	const char *slash;

	if (!native_frame_resolve(caller, &frame))
		return false;
	slash = strrchr(frame.module, '/');
	return strncmp(slash ? slash + 1 : frame.module, "libc10_cuda.so", 14) == 0;
}

static void note_malloc(void *ptr, size_t size, const uintptr_t *frame)
{
	struct ledger *ledger;
	struct stack *stack;
	bool segment;

	if (!ptr || !tracer_take_event())
		return;
	ledger = ledger_of(thread_device);
	stack = thread_stack();
	if (!ledger || !stack) {
		tracer_drop_event();
		return;
	}
	segment = is_segment((const void *)frame[1]);
	stack_capture(stack, frame);
	if (!segment && mark_counts(MARK_RANK_LOOP))
		steps_allocation(ledger->device, stack);
	ledger_cuda_alloc(ledger, (uintptr_t)ptr, size, segment, stack);
}

EXPORT cudaError_t cudaMalloc(void **ptr, size_t size)
{
	cudaError_t (*real)(void **, size_t) = real_find_loaded(REAL_cudaMalloc);
	cudaError_t error;

	if (!real)
		return cudaErrorSharedObjectSymbolNotFound;
	error = real(ptr, size);
	if (tracer_enter() && error == cudaSuccess && ptr)
		note_malloc(*ptr, size, __builtin_frame_address(0));
	tracer_leave();
	return error;
}

/* Addresses of all devices lie in one space, so the first that knows it is right. */
static void note_free(const void *ptr)
{
	if (!ptr || !(tracer_recording() || tracer_paused()))
		return;
	for (unsigned i = 0; i < GPULEAK_DEVICES_MAX; i++) {
		struct ledger *ledger = ledger_if_used(i);

		if (ledger && ledger_cuda_free(ledger, (uintptr_t)ptr)) {
			if (mark_counts(MARK_RANK_LOOP))
				steps_free(i);
			return;
		}
	}
}

EXPORT cudaError_t cudaFree(void *ptr)
{
	cudaError_t (*real)(void *) = real_find_loaded(REAL_cudaFree);

	if (!real)
		return cudaErrorSharedObjectSymbolNotFound;
	/* Before the call: after it the address can be handed out again at once. */
	if (tracer_enter())
		note_free(ptr);
	tracer_leave();
	return real(ptr);
}

EXPORT cudaError_t cudaSetDevice(int device)
{
	cudaError_t (*real)(int) = real_find_loaded(REAL_cudaSetDevice);
	cudaError_t error;

	if (!real)
		return cudaErrorSharedObjectSymbolNotFound;
	error = real(device);
	if (error == cudaSuccess)
		thread_device = device;
	return error;
}

/*
 * PyTorch asks for the number of devices before it allocates anything, with no lock
 * of its allocator held: the moment to make the trace and to start the agent.
 */
EXPORT cudaError_t cudaGetDeviceCount(int *count)
{
	cudaError_t (*real)(int *) = real_find_loaded(REAL_cudaGetDeviceCount);

	if (!real)
		return cudaErrorSharedObjectSymbolNotFound;
	if (tracer_enter()) {
		tracer_prepare();
		agent_request();
	}
	tracer_leave();
	return real(count);
}

/* We never ask ourselves: what the program is told shows what no hook of ours sees. */
EXPORT cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
	cudaError_t (*real)(size_t *, size_t *) = real_find_loaded(REAL_cudaMemGetInfo);
	struct ledger *ledger;
	cudaError_t error;

	if (!real)
		return cudaErrorSharedObjectSymbolNotFound;
	error = real(free_bytes, total);
	if (tracer_enter() && error == cudaSuccess && free_bytes && total && tracer_recording()) {
		ledger = ledger_if_used((unsigned)thread_device);
		if (ledger)
			ledger_driver_asked(ledger, *free_bytes, *total);
	}
	tracer_leave();
	return error;
}
