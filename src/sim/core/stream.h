#ifndef SIM_CORE_STREAM_H
#define SIM_CORE_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/core/api.h"

/* Streams, events and stream capture, for the runtime and the driver.  Any thread. */

enum gpusim_capture {
	GPUSIM_CAPTURE_NONE = 0,
	GPUSIM_CAPTURE_ACTIVE = 1
};

SIM_EXPORT int gpusim_stream_new(int priority, unsigned flags, void **stream);
SIM_EXPORT int gpusim_stream_free(void *stream);
SIM_EXPORT int gpusim_stream_priority(void *stream);
SIM_EXPORT unsigned gpusim_stream_flags(void *stream);
SIM_EXPORT uint64_t gpusim_stream_number(void *stream);
SIM_EXPORT int gpusim_stream_device(void *stream);
SIM_EXPORT int gpusim_stream_wait(void *stream, void *event);

SIM_EXPORT int gpusim_event_new(void **event);
SIM_EXPORT int gpusim_event_free(void *event);
SIM_EXPORT int gpusim_event_record(void *event, void *stream);
SIM_EXPORT int gpusim_event_elapsed(float *milliseconds, void *start, void *end);

/* A captured graph: nothing but an object, since there's nothing to run again. */
SIM_EXPORT int gpusim_capture_begin(void *stream);
SIM_EXPORT int gpusim_capture_end(void *stream, void **graph);
SIM_EXPORT enum gpusim_capture gpusim_capture_status(void *stream, uint64_t *id, void **graph);
SIM_EXPORT int gpusim_graph_new(void **graph);
SIM_EXPORT void gpusim_graph_free(void *graph);

/* Waiting for the GPU takes a moment, as it does on a real one, and lets other threads run. */
SIM_EXPORT void gpusim_synchronize(void);

#endif
