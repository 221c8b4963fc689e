/*
 * How fast memory goes and until when it lasts, in words.
 */
#ifndef GPULEAK_REPORT_FORECAST_H
#define GPULEAK_REPORT_FORECAST_H

#include <stddef.h>

#include "report/findings.h"

enum {
	FORECAST_SIZE = 256 /* bytes that hold it, its NUL included */
};

/*
 * "12.5 MiB a step; 24.0 GiB full at about step 1,886, in 11 min at this pace" of a
 * device that leaks or grows; empty of others.  Returns `buffer`.
 */
const char *forecast_text(const struct findings *device, char buffer[FORECAST_SIZE]);

#endif
