/*
 * CUDA graphs that contain optimizers' steps or backward passes: a replay calls no Python
 * and no autograd, but it is a step all the same.
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

/* The optimizers' steps of a graph, in order, and how many backward passes it has. */
struct graphs_steps {
	uint64_t optimizers[GRAPHS_STEPS];
	uint32_t count;
	uint32_t backwards;
};

/* A stream is being captured from now on. */
void graphs_capture_begins(void);

/* An optimizer's step() ended.  True while a stream is captured: it was recorded, not done. */
bool graphs_captured(uint64_t optimizer);

/* The same of a backward pass that ended. */
bool graphs_captured_backward(void);

/* The capture has ended and made `graph`; NULL: it failed. */
void graphs_capture_ends(const void *graph);

/* `executable` was made of `graph`. */
void graphs_instantiated(const void *executable, const void *graph);

/* The steps that a launch of `executable` does; false, and quickly so, when there are none. */
bool graphs_find(const void *executable, struct graphs_steps *steps);

/* In a child after fork. */
void graphs_forget(void);

#endif
