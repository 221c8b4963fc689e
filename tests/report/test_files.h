/* Temporary files and memory with an edge, for the tests of the report. */
#ifndef GPULEAK_TESTS_TEST_FILES_H
#define GPULEAK_TESTS_TEST_FILES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "build_trace.h"
#include "test.h"

/* A copy of `size` bytes that ends where memory ends: one more is a crash. */
static inline const void *at_edge(const void *bytes, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t room = (size + page - 1) / page * page;
	uint8_t *memory =
		mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || mprotect(memory + room, page, PROT_NONE) < 0) {
		perror("mmap");
		exit(TEST_FAIL);
	}
	if (size)
		memcpy(memory + room - size, bytes, size);
	return memory + room - size;
}

/* Where a test's file lies; the test unlinks it. */
static inline const char *test_path(void)
{
	static char path[64];

	snprintf(path, sizeof(path), "/tmp/gpuleak-test-%d.bin", (int)getpid());
	return path;
}

static inline void write_trace(const struct build *build)
{
	if (!build_write(build, test_path())) {
		perror(test_path());
		exit(TEST_FAIL);
	}
}

#endif
