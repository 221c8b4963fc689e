/*
 * The backward passes under way, and who called them.  PyTorch runs them on threads of its own,
 * which have no Python frames or those of hooks alone; whose line it is stands on the stack of
 * the thread that called backward() and waits for its end.
 *
 * Threads: any.  With no lock held but for backward_caller().
 */
#ifndef GPULEAK_TRACER_BACKWARD_PASS_H
#define GPULEAK_TRACER_BACKWARD_PASS_H

#include <stdint.h>

/* See backward_caller().  Written under passes_lock. */
extern uint32_t backward_common;

/*
 * Where the stack that called every backward pass under way is in the trace's stacks; 0 while
 * there is none, or they were called by different stacks.
 */
static inline uint32_t backward_caller(void)
{
	return __atomic_load_n(&backward_common, __ATOMIC_ACQUIRE);
}

/*
 * The calling thread begins a pass that isn't part of another one.  `frame` is the
 * __builtin_frame_address(0) of the hook.  errno stays.
 */
void backward_begins(const uintptr_t *frame);

/* The calling thread's pass is over; nothing where it has none. */
void backward_ends(void);

/* In a child after fork: no pass is under way. */
void backward_forget(void);

#endif
