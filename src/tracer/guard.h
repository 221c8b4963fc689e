/*
 * What a hook asks of the calling thread.  How deep it is inside our hooks: only the outermost
 * one records.
 */
#ifndef GPULEAK_TRACER_GUARD_H
#define GPULEAK_TRACER_GUARD_H

#include <stdbool.h>

/* One place for all of it, and a cache line.  initial-exec: reading it never allocates. */
struct tracer_thread {
	unsigned depth;
	unsigned in_optimizer; /* steps of optimizers begun and not ended; optimizer_step.c */
	bool of_autograd;      /* one of the engine's own threads; hook_autograd.c */
	struct stack *stack;   /* memory for one; NULL: not taken yet; thread.c */
};

extern _Thread_local struct tracer_thread tracer_thread __attribute__((tls_model("initial-exec")));

/* True for the outermost hook.  Each call is balanced by tracer_leave(). */
static inline bool tracer_enter(void)
{
	return tracer_thread.depth++ == 0;
}

static inline void tracer_leave(void)
{
	tracer_thread.depth--;
}

#endif
