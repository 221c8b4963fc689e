/* The calling thread's PyThreadState, by the shortest way that is known to be right. */
#ifndef GPULEAK_TRACER_PYTHON_THREAD_H
#define GPULEAK_TRACER_PYTHON_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "tracer/python_runtime.h"

/*
 * Where CPython's own functions look, found and checked once.  Five cold lines of
 * code less than calling them.  Written by python_thread_shorten() before the walk
 * that reads it is switched on.
 */
struct python_shortcut {
	const uint8_t *finalizing; /* a pointer: not NULL once Python ends */
	const uint8_t *key;	   /* struct { int made; pthread_key_t key; }; NULL: no shortcut */
	void *(*get_specific)(pthread_key_t key);
};

extern struct python_shortcut python_shortcut __attribute__((visibility("hidden")));

/*
 * Look for the shortcut, knowing that `state` is the calling thread's.  Finding
 * none is no harm.  One thread at a time.
 */
void python_thread_shorten(const uint8_t *state);

/* Python's own answer: what counts before the shortcut is there to be read. */
static inline const uint8_t *python_thread_state_asked(void)
{
	return python_runtime.is_finalizing() ? NULL : python_runtime.this_thread_state();
}

static inline bool python_is_finalizing(void)
{
	if (python_shortcut.finalizing)
		return python_word(python_shortcut.finalizing, 0) != 0;
	return python_runtime.is_finalizing();
}

/*
 * NULL for a thread that Python has never seen.  Once the interpreter ends, it
 * frees the states of threads that may still run native code: so ask that first,
 * each time.
 */
static inline const uint8_t *python_thread_state(void)
{
	if (python_is_finalizing())
		return NULL;
	if (!python_shortcut.key)
		return python_runtime.this_thread_state();
	if (!python_int(python_shortcut.key, 0))
		return NULL;
	return python_shortcut.get_specific((pthread_key_t)python_int(python_shortcut.key, 4));
}

#endif
