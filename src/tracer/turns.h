/*
 * Steps of a program that neither steps an optimizer nor runs backward passes: the
 * turns of its loop, seen from the call stacks that allocate.
 *
 * A stack that comes again and again leads: each of its allocations begins a turn.  One
 * outside of every module is preferred (it is in the program's own loop), then one
 * within a module that comes once a call rather than once a layer.  When the lead falls
 * silent, the program is at something else, and another stack leads.
 *
 * Each device is looked at by itself, so that threads on different ones don't wait for each
 * other; which one's turns are steps says turns_leading.h.
 *
 * In the allocator's hook: no heap, the lock of the device's turns alone, and that for moments.
 */
#ifndef GPULEAK_TRACER_TURNS_H
#define GPULEAK_TRACER_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/format.h"
#include "tracer/stack.h"

struct turns_turn {
	enum gpuleak_clock clock;
	bool restart;	 /* what was counted before was no turn of this loop */
	bool first;	 /* the stack leads from now on */
	uint32_t number; /* of the mark; 0: the next */
	uint64_t marks;	 /* there were, when that was decided */
};

/*
 * An allocation on `device` from `stack`, just captured: does a turn begin with it that is a
 * step of the process?
 */
bool turns_begin(uint32_t device, const struct stack *stack, struct turns_turn *turn);

/* A block of that device was freed. */
void turns_freed(uint32_t device);

/* In a child after fork. */
void turns_forget(void);

#endif
