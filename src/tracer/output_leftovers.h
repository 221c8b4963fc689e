/*
 * Temporary files of traces whose process was killed before its first GPU event.
 */
#ifndef GPULEAK_TRACER_OUTPUT_LEFTOVERS_H
#define GPULEAK_TRACER_OUTPUT_LEFTOVERS_H

#include "tracer/output_name.h"

/*
 * Remove them from the folder of `temporary`, which is this process's own: files of its
 * form and owner that hold a trace or nothing yet, and that nobody has a lock on.  Only on
 * local file systems: elsewhere the locks of other machines may not show.
 * Looks at some ten thousand names at most.  start_lock is held.
 */
void output_remove_leftovers(const struct output_name *temporary);

#endif
