/*
 * The process's own memory: how much is resident, and how much the CUDA runtime has
 * page-locked ("pinned") for it.
 */
#ifndef GPULEAK_TRACER_HOST_H
#define GPULEAK_TRACER_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pinned memory comes and goes.  Any thread; take host_lock. */
void host_pinned(const void *address, size_t size);
void host_unpinned(const void *address);

/* Write what `mark` says of the host's memory.  The caller holds mark_lock. */
void host_publish(uint64_t mark, uint64_t when);

/* As if no mark had been made.  The caller holds mark_lock. */
void host_start_anew(void);

/* In a child after fork: what the parent pinned isn't its own to give back. */
void host_forget(void);

#endif
