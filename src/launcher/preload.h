/* The environment that slips the tracer and the simulated GPU into a program. */
#ifndef GPULEAK_LAUNCHER_PRELOAD_H
#define GPULEAK_LAUNCHER_PRELOAD_H

#include <stdbool.h>

#include "launcher/locate.h"
#include "launcher/say.h"

/* What the program's environment has beside or instead of ours. */
struct environment {
	struct names settings; /* NAME=value */
};

void environment_set(struct environment *environment, const char *name, const char *value);
void environment_release(struct environment *environment);

/* Change this process's environment: called in the child, before exec. */
void environment_apply(const struct environment *environment);

/*
 * Set LD_PRELOAD and LD_AUDIT so that the program loads the tracer, the simulated
 * GPU or both, and what they held before.  Returns 0, or -1 after saying why not.
 */
int preload_set(struct environment *environment, const struct parts *parts, bool tracer, bool sim);

#endif
