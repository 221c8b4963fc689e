#include "sim/core/stream.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "sim/core/config.h"
#include "sim/core/lock.h"
#include "sim/core/meeting.h"
#include "sim/core/thread.h"

enum {
	SPECIAL = 16 /* smaller handles are the default streams */,
	SYNCHRONIZE_NS = 20000
};

/* Guarded by the core's lock, but for what never changes. */
struct stream {
	struct stream *next, *previous; /* all streams */
	uint64_t number;
	int device, priority;
	unsigned flags;
	uint64_t capture;		     /* id of the capture it takes part in; 0: none */
	struct graph *graph;		     /* borrowed: what that capture will return */
	bool origin;			     /* the capture began here */
	struct gpusim_collective collective; /* the last one, here or waited for */
};

struct event {
	uint64_t time_ns;
	uint64_t capture; /* of the stream it was last recorded on */
	struct graph *graph;
	struct gpusim_collective collective; /* that must be done before it */
};

struct graph {
	uint64_t nodes;
};

static struct stream *streams;
static struct gpusim_collective default_collectives[GPUSIM_DEVICES_MAX];
static uint64_t captures; /* begun so far */
static atomic_ullong stream_numbers = 8;

static struct stream *stream_at(void *handle)
{
	return (uint64_t)handle < SPECIAL ? NULL : handle;
}

/* The last collective on it.  Under the lock. */
static struct gpusim_collective *collective_of(void *handle)
{
	struct stream *stream = stream_at(handle);

	return stream ? &stream->collective : &default_collectives[gpusim_thread()->device];
}

int gpusim_stream_new(int priority, unsigned flags, void **handle)
{
	struct stream *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return GPUSIM_OUT_OF_MEMORY;
	stream->device = gpusim_thread()->device;
	stream->number = atomic_fetch_add(&stream_numbers, 1);
	stream->priority = priority;
	stream->flags = flags;
	gpusim_lock();
	stream->next = streams;
	if (streams)
		streams->previous = stream;
	streams = stream;
	gpusim_unlock();
	*handle = stream;
	return GPUSIM_SUCCESS;
}

int gpusim_stream_free(void *handle)
{
	struct stream *stream = stream_at(handle);

	if (!stream)
		return GPUSIM_INVALID_VALUE;
	gpusim_lock();
	if (stream->previous)
		stream->previous->next = stream->next;
	else
		streams = stream->next;
	if (stream->next)
		stream->next->previous = stream->previous;
	gpusim_unlock();
	free(stream);
	return GPUSIM_SUCCESS;
}

int gpusim_stream_priority(void *handle)
{
	return stream_at(handle) ? stream_at(handle)->priority : 0;
}

unsigned gpusim_stream_flags(void *handle)
{
	return stream_at(handle) ? stream_at(handle)->flags : 0;
}

uint64_t gpusim_stream_number(void *handle)
{
	return stream_at(handle) ? stream_at(handle)->number : (uint64_t)handle;
}

int gpusim_stream_device(void *handle)
{
	return stream_at(handle) ? stream_at(handle)->device : gpusim_thread()->device;
}

/* Waiting for an event of a capture makes a stream part of it. */
int gpusim_stream_wait(void *handle, void *event_handle)
{
	struct stream *stream = stream_at(handle);
	struct event *event = event_handle;

	if (!event)
		return GPUSIM_INVALID_VALUE;
	gpusim_lock();
	if (stream && event->capture && !stream->capture) {
		stream->capture = event->capture;
		stream->graph = event->graph;
	}
	if (event->collective.meeting)
		*collective_of(handle) = event->collective;
	gpusim_unlock();
	return GPUSIM_SUCCESS;
}

void gpusim_stream_collective(void *handle, struct gpusim_collective collective)
{
	if (!collective.meeting)
		return;
	gpusim_lock();
	*collective_of(handle) = collective;
	gpusim_unlock();
}

int gpusim_stream_query(void *handle)
{
	struct gpusim_collective collective;

	gpusim_lock();
	collective = *collective_of(handle);
	gpusim_unlock();
	return gpusim_collective_done(collective) ? GPUSIM_SUCCESS : GPUSIM_NOT_READY;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int gpusim_event_new(void **event)
{
	*event = calloc(1, sizeof(struct event));
	return *event ? GPUSIM_SUCCESS : GPUSIM_OUT_OF_MEMORY;
}

int gpusim_event_free(void *event)
{
	free(event);
	return event ? GPUSIM_SUCCESS : GPUSIM_INVALID_VALUE;
}

int gpusim_event_record(void *handle, void *stream_handle)
{
	struct stream *stream = stream_at(stream_handle);
	struct event *event = handle;

	if (!event)
		return GPUSIM_INVALID_VALUE;
	gpusim_lock();
	event->time_ns = now_ns();
	event->capture = stream ? stream->capture : 0;
	event->graph = stream ? stream->graph : NULL;
	event->collective = *collective_of(stream_handle);
	gpusim_unlock();
	return GPUSIM_SUCCESS;
}

/* Everything is done at once, but for a collective that other ranks haven't come to. */
int gpusim_event_query(void *handle)
{
	const struct event *event = handle;
	struct gpusim_collective collective;

	if (!event)
		return GPUSIM_INVALID_VALUE;
	gpusim_lock();
	collective = event->collective;
	gpusim_unlock();
	return gpusim_collective_done(collective) ? GPUSIM_SUCCESS : GPUSIM_NOT_READY;
}

int gpusim_event_elapsed(float *milliseconds, void *start, void *end)
{
	const struct event *from = start, *to = end;

	if (!from || !to || !from->time_ns || !to->time_ns)
		return GPUSIM_INVALID_VALUE;
	*milliseconds = (float)((double)(int64_t)(to->time_ns - from->time_ns) / 1e6);
	return GPUSIM_SUCCESS;
}

int gpusim_capture_begin(void *handle)
{
	struct stream *stream = stream_at(handle);
	int error = GPUSIM_ILLEGAL_STATE;
	void *graph;

	if (!stream)
		return GPUSIM_CAPTURE_UNSUPPORTED;
	if (gpusim_graph_new(&graph))
		return GPUSIM_OUT_OF_MEMORY;
	gpusim_lock();
	if (!stream->capture) {
		stream->capture = ++captures;
		stream->graph = graph;
		stream->origin = true;
		error = GPUSIM_SUCCESS;
	}
	gpusim_unlock();
	if (error)
		gpusim_graph_free(graph);
	return error;
}

int gpusim_capture_end(void *handle, void **graph)
{
	struct stream *stream = stream_at(handle);
	uint64_t id;

	*graph = NULL;
	if (!stream)
		return GPUSIM_ILLEGAL_STATE;
	gpusim_lock();
	id = stream->origin ? stream->capture : 0;
	if (id)
		*graph = stream->graph;
	for (struct stream *s = streams; s && id; s = s->next) {
		if (s->capture != id)
			continue;
		s->capture = 0;
		s->graph = NULL;
		s->origin = false;
	}
	gpusim_unlock();
	return id ? GPUSIM_SUCCESS : GPUSIM_ILLEGAL_STATE;
}

enum gpusim_capture gpusim_capture_status(void *handle, uint64_t *id, void **graph)
{
	struct stream *stream = stream_at(handle);

	*id = 0;
	*graph = NULL;
	if (!stream)
		return GPUSIM_CAPTURE_NONE;
	gpusim_lock();
	*id = stream->capture;
	*graph = stream->graph;
	gpusim_unlock();
	return *id ? GPUSIM_CAPTURE_ACTIVE : GPUSIM_CAPTURE_NONE;
}

/* A kernel, a copy or a memset goes to the stream. */
void gpusim_capture_add(void *handle)
{
	struct stream *stream = stream_at(handle);

	if (!stream)
		return;
	gpusim_lock();
	if (stream->graph)
		stream->graph->nodes++;
	gpusim_unlock();
}

int gpusim_graph_new(void **graph)
{
	*graph = calloc(1, sizeof(struct graph));
	return *graph ? GPUSIM_SUCCESS : GPUSIM_OUT_OF_MEMORY;
}

void gpusim_graph_free(void *graph)
{
	free(graph);
}

uint64_t gpusim_graph_nodes(void *handle)
{
	const struct graph *graph = handle;

	return graph->nodes;
}

void gpusim_synchronize(void)
{
	struct timespec moment = {.tv_nsec = SYNCHRONIZE_NS};

	gpusim_meetings_wait();
	nanosleep(&moment, NULL);
}
