/* The driver's streams and events. */
#include <stddef.h>
#include <stdint.h>

#include "sim/core/stream.h"
#include "sim/core/thread.h"
#include "sim/standin.h"

int cuDevicePrimaryCtxRetain(void **context, int device);

SIM_EXPORT int cuStreamCreateWithPriority(void **stream, unsigned flags, int priority)
{
	return gpusim_stream_new(priority, flags, stream);
}

SIM_EXPORT int cuStreamCreate(void **stream, unsigned flags)
{
	return gpusim_stream_new(0, flags, stream);
}

SIM_EXPORT int cuStreamDestroy_v2(void *stream)
{
	return gpusim_stream_free(stream);
}

SIM_EXPORT int cuStreamGetCtx(void *stream, void **context)
{
	return cuDevicePrimaryCtxRetain(context, gpusim_stream_device(stream));
}

SIM_EXPORT int cuStreamGetPriority(void *stream, int *priority)
{
	*priority = gpusim_stream_priority(stream);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuStreamGetFlags(void *stream, unsigned *flags)
{
	*flags = gpusim_stream_flags(stream);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuStreamGetId(void *stream, unsigned long long *number)
{
	*number = gpusim_stream_number(stream);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuStreamQuery(void *stream)
{
	return gpusim_stream_query(stream);
}

SIM_EXPORT int cuStreamSynchronize(void *stream)
{
	(void)stream;
	gpusim_synchronize();
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuStreamWaitEvent(void *stream, void *event, unsigned flags)
{
	(void)flags;
	return gpusim_stream_wait(stream, event);
}

SIM_EXPORT int cuStreamIsCapturing(void *stream, int *status)
{
	uint64_t id;
	void *graph;

	*status = (int)gpusim_capture_status(stream, &id, &graph);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuLaunchHostFunc(void *stream, void (*function)(void *), void *argument)
{
	(void)stream;
	function(argument);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuEventCreate(void **event, unsigned flags)
{
	(void)flags;
	return gpusim_event_new(event);
}

SIM_EXPORT int cuEventDestroy_v2(void *event)
{
	return gpusim_event_free(event);
}

SIM_EXPORT int cuEventRecord(void *event, void *stream)
{
	return gpusim_event_record(event, stream);
}

SIM_EXPORT int cuEventQuery(void *event)
{
	return gpusim_event_query(event);
}

SIM_EXPORT int cuEventSynchronize(void *event)
{
	(void)event;
	gpusim_synchronize();
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuEventElapsedTime_v2(float *milliseconds, void *start, void *end)
{
	return gpusim_event_elapsed(milliseconds, start, end);
}

SIM_EXPORT int cuEventElapsedTime(float *milliseconds, void *start, void *end)
{
	return gpusim_event_elapsed(milliseconds, start, end);
}
