/*
 * Is Python's garbage collector at work?  Read from the interpreter's own state, without
 * the GIL: what is freed meanwhile was in a reference cycle, or hung on one.  Another
 * thread may free in that time, too; it is a share of what is freed that proves something.
 */
#ifndef GPULEAK_TRACER_PYTHON_COLLECTOR_H
#define GPULEAK_TRACER_PYTHON_COLLECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/python_thread.h"

/* The collector's int `collecting`; NULL: not found.  Written under the GIL, once. */
extern const int *python_collecting_at __attribute__((visibility("hidden")));

/*
 * Look for it, knowing the lists gc.garbage and gc.callbacks by their addresses, between
 * which and it nothing lies.  The caller holds the GIL.  False when it isn't found, or not
 * where this version has it.
 */
bool python_collector_find(const void *garbage, const void *callbacks);

/* Once the interpreter ends, its state is freed: not asked any more then. */
static inline bool python_collecting(void)
{
	const int *at = __atomic_load_n(&python_collecting_at, __ATOMIC_RELAXED);

	return at && !python_is_finalizing() && __atomic_load_n(at, __ATOMIC_RELAXED);
}

#endif
