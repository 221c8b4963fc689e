/*
 * The loader's list of objects, walked so that no fork falls into it: glibc doesn't
 * set the list's lock free in a child, where an exception or a walk of ours would wait
 * for ever.
 */
#ifndef GPULEAK_TRACER_NATIVE_LOADER_H
#define GPULEAK_TRACER_NATIVE_LOADER_H

#include <link.h>
#include <stdatomic.h>
#include <stddef.h>

/* dl_iterate_phdr(), one thread at a time.  Any thread; not within `visit`. */
int native_loader_walk(int (*visit)(struct dl_phdr_info *info, size_t size, void *data),
		       void *data);

/* How many objects were unloaded, as far as a walk has seen it.  Read by native_loader_unloads().
 */
extern _Atomic(unsigned long long) native_loader_seen;

/*
 * What is known by an address of code is good for one value of this: when it rises, other
 * code may lie there.  No lock.
 */
static inline unsigned long long native_loader_unloads(void)
{
	return atomic_load_explicit(&native_loader_seen, memory_order_acquire);
}

/* Look whether something was unloaded.  Any thread; takes loader_lock; keeps errno. */
void native_loader_look(void);

/* Around fork, as pthread_atfork() calls them: nobody walks in between. */
void native_loader_fork_begins(void);
void native_loader_fork_ended(void);

/* In a child, whatever way it was made. */
void native_loader_forget(void);

#endif
