/*
 * What a finding's memory is for, where its stack says so.
 */
#ifndef GPULEAK_REPORT_KIND_H
#define GPULEAK_REPORT_KIND_H

#include <stdbool.h>

#include "report/findings.h"
#include "report/snapshot.h"

enum kind {
	KIND_UNKNOWN = 0,
	KIND_PARAMETER = 1,
	KIND_GRADIENT = 2,
	KIND_OPTIMIZER_STATE = 3,
	KIND_ACTIVATION = 4,
	KIND_INPUT = 5,	    /* copied from the host */
	KIND_WORKSPACE = 6, /* cuBLAS works in it */
	KIND_CACHE = 7,	    /* bounded, and what it holds is replaced */
};

enum kind kind_of(const struct finding *finding, const struct snapshot *snapshot);

/* "optimizer state", "unknown". */
const char *kind_name(enum kind kind);

/* True of what every training keeps. */
bool kind_is_normal(enum kind kind);

/* Its bytes in units of the parameters' bytes; 0 where that is unknown or means nothing. */
double kind_in_parameters(const struct finding *finding, const struct snapshot *snapshot);

#endif
