/*
 * How deep the calling thread is inside our hooks: only the outermost one records.
 */
#ifndef GPULEAK_TRACER_GUARD_H
#define GPULEAK_TRACER_GUARD_H

#include <stdbool.h>

/* initial-exec: reading it never allocates. */
extern _Thread_local unsigned tracer_depth __attribute__((tls_model("initial-exec")));

/* True for the outermost hook.  Each call is balanced by tracer_leave(). */
static inline bool tracer_enter(void)
{
	return tracer_depth++ == 0;
}

static inline void tracer_leave(void)
{
	tracer_depth--;
}

#endif
