#ifndef SIM_CORE_NOTICE_H
#define SIM_CORE_NOTICE_H

#include <stdatomic.h>

#include "sim/core/api.h"

/*
 * Say once that `function` of `library` isn't simulated, and return `error`.
 * `said` belongs to that function.  Any thread; keeps errno.
 */
SIM_EXPORT long gpusim_unsupported(atomic_flag *said, const char *function, const char *library,
				   long error);

/* One line on stderr, for a setting that makes no sense. */
void gpusim_complain(const char *setting, const char *value, const char *instead);

/* Rank `rank` has waited `seconds` for rank `other` and goes on. */
void gpusim_waited(int rank, int other, int seconds);

#endif
