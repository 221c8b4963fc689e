/*
 * Who may have a trace's name: a living writer keeps it, an old trace gives it up.
 */
#ifndef GPULEAK_TRACER_OUTPUT_CLAIM_H
#define GPULEAK_TRACER_OUTPUT_CLAIM_H

#include <stdbool.h>

#include "tracer/output_name.h"

/*
 * Rename `temporary` to `name`.  An old trace of that name becomes .old, .old.2 and
 * so on, never overwritten; one whose writer lives (it holds a lock on it) makes
 * this one's name end in its pid, and `name` says so.  False with errno.
 */
bool output_claim(struct output_name *name, const struct output_name *temporary);

#endif
