/*
 * A lock for what is held for moments and seldom wanted by two, with the cheapest way out:
 * giving it back is a plain store.  A mutex gives itself back by an exchange, and that waits
 * until all that was written within has left the processor's store buffer.
 *
 * Who finds it taken looks again for a while, then sleeps in between: the owner may have
 * been preempted, also by the one who waits.  Zeroed: { 0 } is free, as in a child of fork.
 */
#ifndef GPULEAK_TRACER_LOCK_H
#define GPULEAK_TRACER_LOCK_H

#include <stdbool.h>
#include <stdint.h>

struct lock {
	uint32_t taken;
};

/* Until it is free.  Keeps errno. */
void lock_wait(struct lock *lock);

static inline bool lock_try(struct lock *lock)
{
	return !__atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE);
}

static inline void lock_take(struct lock *lock)
{
	if (__builtin_expect(!lock_try(lock), 0))
		lock_wait(lock);
}

static inline void lock_give(struct lock *lock)
{
	__atomic_store_n(&lock->taken, 0, __ATOMIC_RELEASE);
}

#endif
