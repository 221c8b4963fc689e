/*
 * Traces with names, for the tests of the report and as seeds for the fuzzers.
 */
#ifndef GPULEAK_TESTS_BUILD_CASES_H
#define GPULEAK_TESTS_BUILD_CASES_H

#include "build_trace.h"

struct build_case {
	const char *name;
	void (*fill)(struct build *build);
	uint64_t size; /* bytes; 0: the smallest */
};

/* Ends with an entry without a name. */
extern const struct build_case build_cases[];

#endif
