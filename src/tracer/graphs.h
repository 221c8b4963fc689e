/*
 * CUDA graphs that contain optimizers' steps: a replay calls no Python, but it is a
 * step all the same.
 *
 * Any thread; take graphs_lock, with nothing of ours held.
 */
#ifndef GPULEAK_TRACER_GRAPHS_H
#define GPULEAK_TRACER_GRAPHS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	GRAPHS_STEPS = 8 /* optimizers' steps of one graph that are remembered */
};

/* The steps of a graph, in order. */
struct graphs_steps {
	uint64_t optimizers[GRAPHS_STEPS];
	uint32_t count;
};

/* A stream is being captured from now on. */
void graphs_capture_begins(void);

/* An optimizer's step() ended.  True while a stream is captured: it was recorded, not done. */
bool graphs_captured(uint64_t optimizer);

/* The capture has ended and made `graph`; NULL: it failed. */
void graphs_capture_ends(const void *graph);

/* `executable` was made of `graph`. */
void graphs_instantiated(const void *executable, const void *graph);

/* The steps that a launch of `executable` does; false, and quickly so, when there are none. */
bool graphs_find(const void *executable, struct graphs_steps *steps);

/* In a child after fork. */
void graphs_forget(void);

#endif
