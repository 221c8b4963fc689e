/*
 * Who may have a trace's name: a living writer keeps it, an old trace gives it up.
 */
#ifndef GPULEAK_TRACER_OUTPUT_CLAIM_H
#define GPULEAK_TRACER_OUTPUT_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/output_name.h"

/*
 * Rename `temporary` to `name`.  An old trace of that name becomes .old, .old.2 and
 * so on, never overwritten.  One whose writer lives (it holds a lock on it), or that
 * was written to since `since` (ns since 1970) and so is of the same run, stays: then
 * this one's name ends in its pid, and `name` says so.  False with errno.
 */
bool output_claim(struct output_name *name, const struct output_name *temporary, uint64_t since);

/* `name` is a trace that output_claim() would leave where it is. */
bool output_claimed(const struct output_name *name, uint64_t since);

/*
 * A process with a rank has claimed a name since `since`: this one, without a rank, started
 * them, as torchrun does.  start_lock is held.
 */
bool output_ranks_claimed(uint64_t since);

#endif
