/*
 * Marks: the ends of steps.  A mark is one transaction over all devices: what it
 * changes in the trace counts once `committed` is raised, by one last store.
 *
 * Any thread; takes mark_lock, then each ledger's lock.  Not in an allocator's hook.
 */
#ifndef GPULEAK_TRACER_MARK_H
#define GPULEAK_TRACER_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/format.h"

/*
 * The step under way ends; `clock` says who says so.  Nothing happens while a higher clock
 * is in use; a higher one than before starts anew: what was counted until then is part of
 * the baseline, as if no mark had been made.  `number` is the mark's, which may leave some
 * out, and of which there is one; 0: the next.
 */
void mark_step(enum gpuleak_clock clock, uint32_t number);

/*
 * The same in an allocator's hook: leaves out what takes long.  Nothing happens if there are
 * fewer than `marks`: another thread has started anew since the number was thought of.
 */
void mark_step_in_hook(enum gpuleak_clock clock, uint32_t number, uint64_t marks);

/* Start anew with the clock in use: what it counted so far were no steps. */
void mark_restart(enum gpuleak_clock clock);

/* The baseline (step 0) ends, without a mark: the optimizer's first step begins. */
void mark_baseline_end(void);

/* Marks so far. */
uint64_t mark_count(void);

/* From the first to the second no mark begins: for moments only.  Takes mark_lock. */
void mark_hold_off(void);
void mark_go_on(void);

/* In a child after fork. */
void mark_forget(void);

/* How a clock ranks: explicit steps above optimizers', those above all that is inferred. */
enum mark_rank {
	MARK_RANK_NONE = 0,
	MARK_RANK_TIME = 1,
	MARK_RANK_LOOP = 2, /* turns of the loop, calls of modules */
	MARK_RANK_BACKWARD = 3,
	MARK_RANK_OPTIMIZER = 4,
	MARK_RANK_EXPLICIT = 5,
};

/* Changed by mark.c alone, under mark_lock; read without. */
extern int mark_rank;

/* A clock of this rank would count. */
static inline bool mark_counts(enum mark_rank rank)
{
	return __atomic_load_n(&mark_rank, __ATOMIC_RELAXED) <= (int)rank;
}

#endif
