/*
 * The report of a trace, made in a process of its own with limits.
 */
#ifndef GPULEAK_TESTS_LIMITED_H
#define GPULEAK_TESTS_LIMITED_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMITED_SANITIZED 1
#elif defined(__has_feature)
#define LIMITED_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define LIMITED_SANITIZED 0
#endif

enum {
	/* Sanitizers take several times the time, and address space without end. */
	LIMITED_SECONDS = LIMITED_SANITIZED ? 30 : 5,
	VERDICT_SIZE = 32,
};

struct outcome {
	int code;		    /* the higher exit code of the two, or 128 + signal */
	uint64_t memory;	    /* bytes, at most at any time */
	double seconds;		    /* of the processor, the longer of the two */
	char verdict[VERDICT_SIZE]; /* of the trace; empty: no report */
};

/*
 * Report on the trace that is open as `trace_fd`, as JSON and, where asked for, as
 * text.  Ends the test when it can't.
 */
void limited_report(int trace_fd, bool as_text, struct outcome *outcome);

/* True when it ended by itself, with a code of the program's, within its time and 1 GiB. */
bool limited_kept(const struct outcome *outcome);

#endif
