/* Streams, events, and functions that the host runs in stream order. */
#include <stddef.h>
#include <stdint.h>

#include "sim/core/stream.h"
#include "sim/core/thread.h"
#include "sim/standin.h"

SIM_EXPORT int cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority)
{
	return gpusim_result(gpusim_stream_new(priority, flags, stream));
}

SIM_EXPORT int cudaStreamCreateWithFlags(void **stream, unsigned flags)
{
	return cudaStreamCreateWithPriority(stream, flags, 0);
}

SIM_EXPORT int cudaStreamCreate(void **stream)
{
	return cudaStreamCreateWithPriority(stream, 0, 0);
}

SIM_EXPORT int cudaStreamDestroy(void *stream)
{
	return gpusim_result(gpusim_stream_free(stream));
}

SIM_EXPORT int cudaStreamGetPriority(void *stream, int *priority)
{
	*priority = gpusim_stream_priority(stream);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaStreamGetFlags(void *stream, unsigned *flags)
{
	*flags = gpusim_stream_flags(stream);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaStreamGetId(void *stream, unsigned long long *number)
{
	*number = gpusim_stream_number(stream);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaStreamGetDevice(void *stream, int *device)
{
	*device = gpusim_stream_device(stream);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaStreamQuery(void *stream)
{
	return gpusim_result(gpusim_stream_query(stream));
}

SIM_EXPORT int cudaStreamSynchronize(void *stream)
{
	(void)stream;
	gpusim_synchronize();
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaStreamWaitEvent(void *stream, void *event, unsigned flags)
{
	(void)flags;
	return gpusim_result(gpusim_stream_wait(stream, event));
}

SIM_EXPORT int cudaStreamAddCallback(void *stream, void (*callback)(void *, int, void *),
				     void *argument, unsigned flags)
{
	(void)flags;
	callback(stream, GPUSIM_SUCCESS, argument);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaLaunchHostFunc(void *stream, void (*function)(void *), void *argument)
{
	(void)stream;
	function(argument);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaEventCreateWithFlags(void **event, unsigned flags)
{
	(void)flags;
	return gpusim_result(gpusim_event_new(event));
}

SIM_EXPORT int cudaEventCreate(void **event)
{
	return cudaEventCreateWithFlags(event, 0);
}

SIM_EXPORT int cudaEventDestroy(void *event)
{
	return gpusim_result(gpusim_event_free(event));
}

SIM_EXPORT int cudaEventRecord(void *event, void *stream)
{
	return gpusim_result(gpusim_event_record(event, stream));
}

SIM_EXPORT int cudaEventRecordWithFlags(void *event, void *stream, unsigned flags)
{
	(void)flags;
	return cudaEventRecord(event, stream);
}

SIM_EXPORT int cudaEventQuery(void *event)
{
	return gpusim_result(gpusim_event_query(event));
}

SIM_EXPORT int cudaEventSynchronize(void *event)
{
	(void)event;
	gpusim_synchronize();
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaEventElapsedTime(float *milliseconds, void *start, void *end)
{
	return gpusim_result(gpusim_event_elapsed(milliseconds, start, end));
}
