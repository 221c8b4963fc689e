/*
 * Patterns: `*` stands for any bytes, also none and slashes; `?` for one.  All else,
 * brackets too, stands for itself, so that "<listcomp>" and "a[1].py" can be written.
 */
#ifndef GPULEAK_REPORT_WILDCARD_H
#define GPULEAK_REPORT_WILDCARD_H

#include <stdbool.h>

#include "report/names.h"

/* True when the whole text is as the pattern says.  At most their product in steps. */
bool wildcard_matches(const char *pattern, struct text text);

/* The same of the whole path, or of what follows one of its slashes. */
bool wildcard_matches_path(const char *pattern, const char *path);

#endif
