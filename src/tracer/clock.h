/*
 * Which of the optimizers' steps end a step of the training.
 *
 * One optimizer leads: each of its steps is a mark.  Others that step in between
 * belong to the same turn of the loop.  The lead changes when another one steps
 * twice while the lead is silent, or when a new one, or one not heard of lately,
 * steps where the lead was expected: a new trial with a new optimizer.  Should the
 * old lead go on all the same, it is the lead again, and its next step is no mark:
 * the new one joined it, and the sum is right.
 *
 * Where ever new optimizers step once each, and each after a backward pass of its own,
 * a turn of the loop makes an optimizer anew.
 */
#ifndef GPULEAK_TRACER_CLOCK_H
#define GPULEAK_TRACER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* An optimizer's step() has ended, `passes` backward passes have so far: is this the end of a
 * step?  Any thread. */
bool clock_stepped(uint64_t optimizer, uint32_t passes);

/* In a child after fork. */
void clock_forget(void);

#endif
