/*
 * Which of the optimizers' steps end a step of the training.
 *
 * One optimizer leads: each of its steps is a mark.  Others that step in between
 * belong to the same turn of the loop.  The lead changes when another one steps
 * twice while the lead is silent, or when one that was not heard of lately steps
 * after the lead had stepped alone: a new trial with a new optimizer.
 */
#ifndef GPULEAK_TRACER_CLOCK_H
#define GPULEAK_TRACER_CLOCK_H

#include <stdbool.h>

/* An optimizer's step() has ended: is this the end of a step?  Any thread. */
bool clock_stepped(const void *optimizer);

/* In a child after fork. */
void clock_forget(void);

#endif
