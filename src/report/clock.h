/*
 * What ends a step in a trace.
 */
#ifndef GPULEAK_REPORT_CLOCK_H
#define GPULEAK_REPORT_CLOCK_H

#include <stdint.h>

#include "report/code.h"

/* "optimizer"; NULL for none and for what a newer tracer may know. */
const char *clock_name(uint32_t clock);

/* "optimizer steps": what a step is there. */
const char *clock_meaning(uint32_t clock);

/*
 * The user's line whose allocation begins a step, where steps are turns of a loop or calls
 * of a module; else NULL.  Borrowed from the snapshot.
 */
const struct gpuleak_frame *clock_line(struct code_map *map);

#endif
