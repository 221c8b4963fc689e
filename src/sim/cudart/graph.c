/* Stream capture and graphs.  A graph knows how many nodes it has; what it would run again is
 * nothing. */
#include <stddef.h>
#include <stdint.h>

#include "sim/core/stream.h"
#include "sim/core/thread.h"
#include "sim/standin.h"

SIM_EXPORT int cudaStreamBeginCapture(void *stream, int mode)
{
	(void)mode;
	return gpusim_result(gpusim_capture_begin(stream));
}

SIM_EXPORT int cudaStreamBeginCaptureToGraph(void *stream, void *graph, const void *dependencies,
					     const void *edges, size_t count, int mode)
{
	(void)graph;
	(void)dependencies;
	(void)edges;
	(void)count;
	(void)mode;
	return gpusim_result(gpusim_capture_begin(stream));
}

SIM_EXPORT int cudaStreamEndCapture(void *stream, void **graph)
{
	return gpusim_result(gpusim_capture_end(stream, graph));
}

SIM_EXPORT int cudaStreamIsCapturing(void *stream, int *status)
{
	uint64_t id;
	void *graph;

	*status = (int)gpusim_capture_status(stream, &id, &graph);
	return GPUSIM_SUCCESS;
}

static int capture_info(void *stream, int *status, unsigned long long *id, void **graph,
			const void **dependencies, size_t *count)
{
	uint64_t number;
	void *captured;

	*status = (int)gpusim_capture_status(stream, &number, &captured);
	if (id)
		*id = number;
	if (graph)
		*graph = captured;
	if (dependencies)
		*dependencies = NULL;
	if (count)
		*count = 0;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaStreamGetCaptureInfo_v2(void *stream, int *status, unsigned long long *id,
					   void **graph, const void **dependencies, size_t *count)
{
	return capture_info(stream, status, id, graph, dependencies, count);
}

SIM_EXPORT int cudaStreamGetCaptureInfo_v3(void *stream, int *status, unsigned long long *id,
					   void **graph, const void **dependencies,
					   const void **edges, size_t *count)
{
	if (edges)
		*edges = NULL;
	return capture_info(stream, status, id, graph, dependencies, count);
}

#if SIM_MAJOR == 12
SIM_EXPORT int cudaStreamGetCaptureInfo(void *stream, int *status, unsigned long long *id)
{
	return capture_info(stream, status, id, NULL, NULL, NULL);
}
#else
SIM_EXPORT int cudaStreamGetCaptureInfo(void *stream, int *status, unsigned long long *id,
					void **graph, const void **dependencies, const void **edges,
					size_t *count)
{
	return cudaStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, edges, count);
}
#endif

/* There is nothing that could depend on anything. */
SIM_EXPORT int cudaStreamUpdateCaptureDependencies(void *stream)
{
	(void)stream;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaThreadExchangeStreamCaptureMode(int *mode)
{
	struct gpusim_thread *thread = gpusim_thread();
	int previous = thread->capture_mode;

	thread->capture_mode = *mode;
	*mode = previous;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaGraphCreate(void **graph, unsigned flags)
{
	(void)flags;
	return gpusim_result(gpusim_graph_new(graph));
}

SIM_EXPORT int cudaGraphDestroy(void *graph)
{
	gpusim_graph_free(graph);
	return GPUSIM_SUCCESS;
}

/* CUDA 11 had two more parameters, both outputs; the last is what 12 and 13 have third. */
SIM_EXPORT int cudaGraphInstantiate(void **executable, void *graph, unsigned long long flags)
{
	(void)graph;
	(void)flags;
	return gpusim_result(gpusim_graph_new(executable));
}

SIM_EXPORT int cudaGraphInstantiateWithFlags(void **executable, void *graph,
					     unsigned long long flags)
{
	return cudaGraphInstantiate(executable, graph, flags);
}

SIM_EXPORT int cudaGraphExecDestroy(void *executable)
{
	gpusim_graph_free(executable);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaGraphLaunch(void *executable, void *stream)
{
	(void)executable;
	(void)stream;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaGraphUpload(void *executable, void *stream)
{
	return cudaGraphLaunch(executable, stream);
}

/* The nodes themselves are NULL: no function here takes one. */
SIM_EXPORT int cudaGraphGetNodes(void *graph, void **nodes, size_t *count)
{
	size_t all = graph ? gpusim_graph_nodes(graph) : 0;

	if (!graph || !count)
		return gpusim_result(GPUSIM_INVALID_VALUE);
	for (size_t i = 0; nodes && i < *count; i++)
		nodes[i] = NULL;
	if (!nodes || *count > all)
		*count = all;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaGraphDebugDotPrint(void *graph, const char *path, unsigned flags)
{
	(void)graph;
	(void)path;
	(void)flags;
	return GPUSIM_SUCCESS;
}

/* A user object is the reference its maker holds; a graph that takes one over keeps it for good. */
SIM_EXPORT int cudaUserObjectCreate(void **object, void *pointer, void (*destroy)(void *),
				    unsigned references, unsigned flags)
{
	(void)pointer;
	(void)destroy;
	(void)references;
	(void)flags;
	return gpusim_result(gpusim_graph_new(object));
}

SIM_EXPORT int cudaUserObjectRelease(void *object, unsigned count)
{
	(void)object;
	(void)count;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaGraphRetainUserObject(void *graph, void *object, unsigned count, unsigned flags)
{
	(void)graph;
	(void)object;
	(void)count;
	(void)flags;
	return GPUSIM_SUCCESS;
}
