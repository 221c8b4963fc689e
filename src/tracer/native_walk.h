/*
 * A walk over native frames by call frame information.  For each return address a rule
 * is remembered that leads to its caller.
 */
#ifndef GPULEAK_TRACER_NATIVE_WALK_H
#define GPULEAK_TRACER_NATIVE_WALK_H

#include <stdbool.h>
#include <stdint.h>

enum {
	NATIVE_STACK_MAX = 128, /* return addresses of one walk */
	NATIVE_READS_MAX = 2 * NATIVE_STACK_MAX,
	NATIVE_STEPS = 12288 /* return addresses that rules are remembered for */
};

/* Return addresses, innermost first. */
struct native_stack {
	unsigned count;
	uintptr_t addresses[NATIVE_STACK_MAX];
};

/*
 * The words of the stack that decided where a walk went, in the order in which it read
 * them: as long as they are the same, another walk finds the same.
 */
struct native_reads {
	unsigned count;
	const uintptr_t *at[NATIVE_READS_MAX];
};

/*
 * The return addresses outwards from a function that has a frame pointer and hasn't
 * returned: frame[0] is its caller's rbp, frame[1] where it returns to.  A stack deeper
 * than NATIVE_STACK_MAX comes without its outermost frames.
 *
 * False when a frame is not understood: then somebody else must walk.  No lock, no heap
 * after the first call; a word further out than this thread's earlier walks came is
 * looked at without faulting.
 */
bool native_walk(const uintptr_t *frame, struct native_stack *stack, struct native_reads *reads);

/* Of the return addresses in their order; good as long as nothing is unloaded. */
uint64_t native_stack_hash(const struct native_stack *stack);

#endif
