#ifndef SIM_CORE_STREAM_H
#define SIM_CORE_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/core/api.h"
#include "sim/core/meeting.h"

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
SIM_EXPORT void gpusim_stream_collective(void *stream, struct gpusim_collective collective);
SIM_EXPORT int gpusim_stream_query(void *stream);

SIM_EXPORT int gpusim_event_new(void **event);
SIM_EXPORT int gpusim_event_free(void *event);
SIM_EXPORT int gpusim_event_record(void *event, void *stream);
SIM_EXPORT int gpusim_event_query(void *event);
SIM_EXPORT int gpusim_event_elapsed(float *milliseconds, void *start, void *end);

/* A captured graph: nothing to run again, but what was put on its streams is counted. */
SIM_EXPORT int gpusim_capture_begin(void *stream);
SIM_EXPORT int gpusim_capture_end(void *stream, void **graph);
SIM_EXPORT enum gpusim_capture gpusim_capture_status(void *stream, uint64_t *id, void **graph);
SIM_EXPORT void gpusim_capture_add(void *stream);
SIM_EXPORT int gpusim_graph_new(void **graph);
SIM_EXPORT void gpusim_graph_free(void *graph);
SIM_EXPORT uint64_t gpusim_graph_nodes(void *graph);

/*
 * Waiting for the GPU takes a moment, as it does on a real one, and lets other threads run. It
 * waits for other ranks, too: see meeting.h.
 */
SIM_EXPORT void gpusim_synchronize(void);

#endif
