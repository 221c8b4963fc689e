/*
 * Where steps come from: optimizers by the agent's hooks, or gpuleak_step().
 */
#ifndef GPULEAK_TRACER_STEPS_H
#define GPULEAK_TRACER_STEPS_H

#include <stdbool.h>

/* An optimizer's step() begins on the calling thread.  Any thread; no lock held. */
void steps_optimizer_begins(void);

/* It has ended; `optimizer` tells optimizers apart and is not looked into. */
void steps_optimizer_ends(const void *optimizer);

/* The calling thread is within an optimizer's step(). */
bool steps_in_optimizer(void);

/* In a child after fork. */
void steps_forget(void);

#endif
