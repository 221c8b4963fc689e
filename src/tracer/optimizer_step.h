/*
 * Is the calling thread within an optimizer's step()?  PyTorch tells of its begin and, unless an
 * exception leaves it, of its end.  So the Python frame that told of the begin is remembered, and
 * looked for on the stack.
 *
 * Source: torch/optim/optimizer.py, profile_hook_step(): `wrapper` calls the hooks before and after
 * the step, without try.
 *
 * Threads: each about itself.  No lock, no heap.
 */
#ifndef GPULEAK_TRACER_OPTIMIZER_STEP_H
#define GPULEAK_TRACER_OPTIMIZER_STEP_H

#include <stdbool.h>

#include "tracer/guard.h"
#include "tracer/stack.h"

/* Called by `wrapper` itself. */
void optimizer_step_begins(void);
void optimizer_step_ends(void);

/* For optimizer_step_runs(): one has begun and not ended. */
bool optimizer_step_stands(const struct stack *stack);

/* `stack` is what the thread has just captured; NULL: it is captured now, if need be. */
static inline bool optimizer_step_runs(const struct stack *stack)
{
	return __builtin_expect(tracer_thread.in_optimizer > 0, 0) && optimizer_step_stands(stack);
}

/* In a child after fork. */
void optimizer_step_forget(void);

#endif
