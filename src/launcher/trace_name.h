/* What the traces of one run can be called. */
#ifndef GPULEAK_LAUNCHER_TRACE_NAME_H
#define GPULEAK_LAUNCHER_TRACE_NAME_H

#include <regex.h>

#include "launcher/say.h"

/*
 * A value of GPULEAK_OUT as a pattern: %p and %r stand for numbers, %h for this
 * host, %e for any program.  Before the last '.' of the name there may be the rank
 * and the pid that the tracer puts there on its own: trace.rank3.4711.bin.
 */
struct trace_name {
	char *glob;    /* owned: files worth a look */
	regex_t exact; /* those that count */
};

/* Returns 0, or -1 after saying what is wrong with it. */
int trace_name_init(struct trace_name *name, const char *out);
void trace_name_release(struct trace_name *name);

/* Add the path of each file that has such a name. */
void trace_name_list(const struct trace_name *name, struct names *paths);

#endif
