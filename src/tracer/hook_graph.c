/*
 * The CUDA runtime's graphs: a replayed graph that contains an optimizer's step or a
 * backward pass is a step, and any may be the turn of a loop.  Called by PyTorch's
 * CUDAGraph, with no lock of its allocator held.
 *
 * Types are opaque here: CUDA 12 and 13 differ in some, never in how they are passed.
 */
#include <stddef.h>

#include <driver_types.h>

#include "tracer/autograd.h"
#include "tracer/graphs.h"
#include "tracer/guard.h"
#include "tracer/mark.h"
#include "tracer/real.h"
#include "tracer/stack.h"
#include "tracer/steps.h"
#include "tracer/thread.h"
#include "tracer/tracer.h"

#include "tracer/banned.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT cudaError_t cudaStreamBeginCapture(void *stream, int mode);
EXPORT cudaError_t cudaStreamBeginCaptureToGraph(void *stream, void *graph, const void *from,
						 const void *edges, size_t count, int mode);
EXPORT cudaError_t cudaStreamEndCapture(void *stream, void **graph);
EXPORT cudaError_t cudaGraphInstantiate(void **executable, void *graph, void *a, void *b, size_t c);
EXPORT cudaError_t cudaGraphInstantiateWithFlags(void **executable, void *graph,
						 unsigned long long flags);
EXPORT cudaError_t cudaGraphLaunch(void *executable, void *stream);

EXPORT cudaError_t cudaStreamBeginCapture(void *stream, int mode)
{
	cudaError_t (*real)(void *, int) = real_find_loaded(REAL_cudaStreamBeginCapture);
	cudaError_t error;

	if (!real)
		return cudaErrorSharedObjectSymbolNotFound;
	error = real(stream, mode);
	if (tracer_enter() && error == cudaSuccess)
		graphs_capture_begins();
	tracer_leave();
	return error;
}

EXPORT cudaError_t cudaStreamBeginCaptureToGraph(void *stream, void *graph, const void *from,
						 const void *edges, size_t count, int mode)
{
	cudaError_t (*real)(void *, void *, const void *, const void *, size_t, int) =
		real_find_loaded(REAL_cudaStreamBeginCaptureToGraph);
	cudaError_t error;

	if (!real)
		return cudaErrorSharedObjectSymbolNotFound;
	error = real(stream, graph, from, edges, count, mode);
	if (tracer_enter() && error == cudaSuccess)
		graphs_capture_begins();
	tracer_leave();
	return error;
}

EXPORT cudaError_t cudaStreamEndCapture(void *stream, void **graph)
{
	cudaError_t (*real)(void *, void **) = real_find_loaded(REAL_cudaStreamEndCapture);
	cudaError_t error;

	if (!real)
		return cudaErrorSharedObjectSymbolNotFound;
	error = real(stream, graph);
	if (tracer_enter())
		graphs_capture_ends(error == cudaSuccess && graph ? *graph : NULL);
	tracer_leave();
	return error;
}

static void note_instantiate(cudaError_t error, void *const *executable, const void *graph)
{
	if (tracer_enter() && error == cudaSuccess && executable)
		graphs_instantiated(*executable, graph);
	tracer_leave();
}

/* CUDA 12 and later have three parameters, CUDA 11 had five: passing all suits both. */
EXPORT cudaError_t cudaGraphInstantiate(void **executable, void *graph, void *a, void *b, size_t c)
{
	cudaError_t (*real)(void **, void *, void *, void *, size_t) =
		real_find_loaded(REAL_cudaGraphInstantiate);
	cudaError_t error;

	if (!real)
		return cudaErrorSharedObjectSymbolNotFound;
	error = real(executable, graph, a, b, c);
	note_instantiate(error, executable, graph);
	return error;
}

EXPORT cudaError_t cudaGraphInstantiateWithFlags(void **executable, void *graph,
						 unsigned long long flags)
{
	cudaError_t (*real)(void **, void *, unsigned long long) =
		real_find_loaded(REAL_cudaGraphInstantiateWithFlags);
	cudaError_t error;

	if (!real)
		return cudaErrorSharedObjectSymbolNotFound;
	error = real(executable, graph, flags);
	note_instantiate(error, executable, graph);
	return error;
}

/* A backward pass that replays a graph of its own (make_graphed_callables) ends by itself. */
static void note_launch(const void *executable, const uintptr_t *frame)
{
	struct graphs_steps steps;
	struct stack *stack;

	if (graphs_find(executable, &steps)) {
		for (uint32_t i = 0; i < steps.count; i++)
			steps_optimizer_replayed(steps.optimizers[i]);
		if (!autograd_runs())
			steps_backward_replayed(steps.backwards);
	}
	if (!mark_counts(MARK_RANK_LOOP))
		return;
	stack = thread_stack();
	if (stack) {
		stack_capture(stack, frame);
		steps_replayed((uint32_t)thread_device, stack);
	}
}

EXPORT cudaError_t cudaGraphLaunch(void *executable, void *stream)
{
	cudaError_t (*real)(void *, void *) = real_find_loaded(REAL_cudaGraphLaunch);
	cudaError_t error;

	if (!real)
		return cudaErrorSharedObjectSymbolNotFound;
	error = real(executable, stream);
	if (tracer_enter() && error == cudaSuccess && tracer_recording())
		note_launch(executable, __builtin_frame_address(0));
	tracer_leave();
	return error;
}
