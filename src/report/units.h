/*
 * Durations and dates as people write them.  Sizes and counts: verdict.h.
 */
#ifndef GPULEAK_REPORT_UNITS_H
#define GPULEAK_REPORT_UNITS_H

#include <stddef.h>
#include <stdint.h>

enum {
	UNITS_SIZE = 48 /* bytes that hold each of these, its NUL included */
};

/* "0.4 s", "12 s", "3 min 12 s", "2 h 5 min", "4 d 3 h".  Returns `buffer`. */
const char *units_duration(double seconds, char buffer[UNITS_SIZE]);

/* "2026-11-29T20:30:00Z" of nanoseconds since 1970.  Returns `buffer`. */
const char *units_date(uint64_t ns, char buffer[UNITS_SIZE]);

#endif
