/*
 * The report of a trace, made in a process of its own with limits.
 */
#ifndef GPULEAK_TESTS_LIMITED_H
#define GPULEAK_TESTS_LIMITED_H

#include <stdbool.h>
#include <stdint.h>

enum {
	VERDICT_SIZE = 32
};

struct outcome {
	int code;		    /* the higher exit code of the two, or 128 + signal */
	uint64_t memory;	    /* bytes, at most at any time */
	double seconds;		    /* of the processor, the longer of the two */
	char verdict[VERDICT_SIZE]; /* of the trace; empty: no report */
};

/* Report on the trace that is open as `trace_fd`, as text and as JSON.  Ends the test when it
 * can't. */
void limited_report(int trace_fd, struct outcome *outcome);

/* True when it ended by itself, with a code of the program's, within 5 s and 1 GiB. */
bool limited_kept(const struct outcome *outcome);

#endif
