/*
 * What ends a step in a trace.
 */
#ifndef GPULEAK_REPORT_CLOCK_H
#define GPULEAK_REPORT_CLOCK_H

#include <stdint.h>

/* "optimizer"; NULL for none and for what a newer tracer may know. */
const char *clock_name(uint32_t clock);

/* "optimizer steps": what a step is there. */
const char *clock_meaning(uint32_t clock);

#endif
