/*
 * Where steps come from: gpuleak_step(); else optimizers, by the agent's hooks; else the
 * ends of backward passes; else the turns of the loop.
 */
#ifndef GPULEAK_TRACER_STEPS_H
#define GPULEAK_TRACER_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/stack.h"

/* An optimizer's step() begins on the calling thread.  Any thread; no lock held. */
void steps_optimizer_begins(void);

/* It has ended; `optimizer` is a number that tells optimizers apart, never 0. */
void steps_optimizer_ends(uint64_t optimizer);

/* A graph that contains its step() was replayed. */
void steps_optimizer_replayed(uint64_t optimizer);

/*
 * A backward pass has ended on the calling thread, which holds no lock.  One within an
 * optimizer's step() (a closure) doesn't count.
 */
void steps_backward_ends(void);

/* A graph that contains `count` of them was replayed. */
void steps_backward_replayed(uint32_t count);

/* A graph was replayed from `stack`: as good as an allocation and a free there, which it
 * doesn't tell of.  Of a device beyond those we have room for nothing is noted, here and below. */
void steps_replayed(uint32_t device, const struct stack *stack);

/* A block is about to be noted in an allocator's hook: where no better clock is known, a turn
 * of the loop may begin with it. */
void steps_allocation(uint32_t device, const struct stack *stack);

/* A block was freed, in an allocator's hook. */
void steps_free(uint32_t device);

/* In a child after fork. */
void steps_forget(void);

#endif
