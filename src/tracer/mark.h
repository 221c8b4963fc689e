/*
 * Marks: the ends of steps.  A mark is one transaction over all devices: what it
 * changes in the trace counts once `committed` is raised, by one last store.
 *
 * Any thread; takes mark_lock, then each ledger's lock.  Not in an allocator's hook.
 */
#ifndef GPULEAK_TRACER_MARK_H
#define GPULEAK_TRACER_MARK_H

#include <stdint.h>

#include "trace/format.h"

/* The step under way ends; `clock` says who says so. */
void mark_step(enum gpuleak_clock clock);

/* The baseline (step 0) ends, without a mark: the optimizer's first step begins. */
void mark_baseline_end(void);

/* Marks so far. */
uint64_t mark_count(void);

/* From the first to the second no mark begins: for moments only.  Takes mark_lock. */
void mark_hold_off(void);
void mark_go_on(void);

/* In a child after fork. */
void mark_forget(void);

#endif
