/*
 * A thread that the program cancels must not end in a hook: with locks of ours, which all others
 * would wait for, and of PyTorch's, below functions that let no unwinding through.  open(), read()
 * and their like are points of cancellation; what calls them is between these two.
 */
#ifndef GPULEAK_TRACER_CANCEL_H
#define GPULEAK_TRACER_CANCEL_H

#include <pthread.h>

/* Returns what cancel_allow() is to be given. */
static inline int cancel_put_off(void)
{
	int state = PTHREAD_CANCEL_ENABLE;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	return state;
}

static inline void cancel_allow(int state)
{
	pthread_setcancelstate(state, NULL);
}

#endif
