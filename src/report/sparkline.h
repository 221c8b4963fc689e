/*
 * A curve of a few characters: the allocated bytes at the end of each step.
 */
#ifndef GPULEAK_REPORT_SPARKLINE_H
#define GPULEAK_REPORT_SPARKLINE_H

#include <stddef.h>
#include <stdio.h>

#include "trace/format.h"

/* Print at most `columns` characters.  Changes of a few percent look flat, as they are. */
void sparkline_print(FILE *out, const struct gpuleak_timeline_entry *entries, size_t count,
		     size_t columns);

#endif
