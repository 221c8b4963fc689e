/*
 * The loader's list of objects, walked so that no fork falls into it: glibc doesn't
 * set the list's lock free in a child, where an exception or a walk of ours would wait
 * for ever.
 */
#ifndef GPULEAK_TRACER_NATIVE_LOADER_H
#define GPULEAK_TRACER_NATIVE_LOADER_H

#include <link.h>
#include <stddef.h>

/* dl_iterate_phdr(), one thread at a time.  Any thread; not within `visit`. */
int native_loader_walk(int (*visit)(struct dl_phdr_info *info, size_t size, void *data),
		       void *data);

/* Around fork, as pthread_atfork() calls them: nobody walks in between. */
void native_loader_fork_begins(void);
void native_loader_fork_ended(void);

/* In a child, whatever way it was made. */
void native_loader_forget(void);

#endif
