/*
 * Where steps come from: optimizers by the agent's hooks, or gpuleak_step().
 */
#ifndef GPULEAK_TRACER_STEPS_H
#define GPULEAK_TRACER_STEPS_H

#include <stdbool.h>
#include <stdint.h>

/* An optimizer's step() begins on the calling thread.  Any thread; no lock held. */
void steps_optimizer_begins(void);

/* It has ended; `optimizer` is a number that tells optimizers apart, never 0. */
void steps_optimizer_ends(uint64_t optimizer);

/* A graph that contains its step() was replayed. */
void steps_optimizer_replayed(uint64_t optimizer);

/* The calling thread is within an optimizer's step(). */
bool steps_in_optimizer(void);

/* In a child after fork. */
void steps_forget(void);

#endif
