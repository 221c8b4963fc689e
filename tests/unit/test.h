/*
 * A test is a program: 0 pass, 1 fail, 77 skip.  Failures are printed as
 * file:line with both values, and the program goes on to the next check.
 */
#ifndef GPULEAK_TESTS_TEST_H
#define GPULEAK_TESTS_TEST_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
	TEST_PASS = 0,
	TEST_FAIL = 1,
	TEST_SKIP = 77
};

static unsigned test_failures;

static inline void test_failed(const char *file, int line)
{
	test_failures++;
	fprintf(stderr, "%s:%d: ", file, line);
}

static inline int test_result(void)
{
	return test_failures ? TEST_FAIL : TEST_PASS;
}

#define EXPECT(condition)                                              \
	do {                                                           \
		if (!(condition)) {                                    \
			test_failed(__FILE__, __LINE__);               \
			fprintf(stderr, "not true: %s\n", #condition); \
		}                                                      \
	} while (0)

#define EXPECT_U64(actual, expected)                                                          \
	do {                                                                                  \
		uint64_t test_actual = (uint64_t)(actual);                                    \
		uint64_t test_expected = (uint64_t)(expected);                                \
                                                                                              \
		if (test_actual != test_expected) {                                           \
			test_failed(__FILE__, __LINE__);                                      \
			fprintf(stderr, "%s is %" PRIu64 ", expected %" PRIu64 "\n", #actual, \
				test_actual, test_expected);                                  \
		}                                                                             \
	} while (0)

#define EXPECT_STR(actual, expected)                                                  \
	do {                                                                          \
		const char *test_actual = (actual);                                   \
		const char *test_expected = (expected);                               \
                                                                                      \
		if (!test_actual || strcmp(test_actual, test_expected) != 0) {        \
			test_failed(__FILE__, __LINE__);                              \
			fprintf(stderr, "%s is \"%s\", expected \"%s\"\n", #actual,   \
				test_actual ? test_actual : "(null)", test_expected); \
		}                                                                     \
	} while (0)

#endif
