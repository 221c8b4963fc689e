/*
 * Traces cut short, with bits turned over and with numbers that mean trouble: the
 * report of each ends with a code of its own, in bounded time and memory, and most
 * of them still say what the whole trace says.
 *
 * mangle [CASES [FIRST]]: the same numbers make the same traces, so that a failure
 * can be looked at again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "build_cases.h"
#include "limited.h"
#include "test.h"
#include "trace/layout.h"

enum {
	CASES = LIMITED_SANITIZED ? 1500 : 10000,
	PATCHES_MAX = 128,
};

enum way {
	WAY_CUT = 0,	/* ends early */
	WAY_BIT = 1,	/* one bit, anywhere in what is used */
	WAY_BITS = 2,	/* up to 64 bits, anywhere in the file */
	WAY_NUMBER = 3, /* a number somewhere in what is used is an extreme one */
	WAYS = 4,
};

static const char *const way_names[WAYS] = {"cut", "a bit", "bits", "a number"};

struct seed {
	const char *name;
	struct build build;
	char verdict[VERDICT_SIZE];
	uint64_t *used; /* offsets of 64-byte lines that are not zero */
	uint64_t used_count;
};

struct totals {
	uint64_t cases[WAYS];
	uint64_t same[WAYS]; /* reach the verdict of the whole trace */
	uint64_t codes[4];
	double seconds_max;
	uint64_t memory_max;
};

static int trace_fd;
static uint64_t state;

static uint64_t chance(uint64_t below)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (state >> 24) % below;
}

static void seed_start(uint64_t number)
{
	state = number * 0x9e3779b97f4a7c15ull + 12345;
	chance(2);
	chance(2);
}

static void write_trace(const struct build *build)
{
	if (ftruncate(trace_fd, 0) < 0 || ftruncate(trace_fd, (off_t)build->size) < 0 ||
	    pwrite(trace_fd, build->bytes, build->size, 0) != (ssize_t)build->size) {
		perror("write");
		exit(TEST_FAIL);
	}
}

/* What patch() changed since the last restore(). */
static struct {
	uint64_t offset;
	size_t size;
} patches[PATCHES_MAX];
static unsigned patch_count;

static void patch(uint64_t offset, const void *bytes, size_t size)
{
	if (patch_count < PATCHES_MAX) {
		patches[patch_count].offset = offset;
		patches[patch_count++].size = size;
	}
	if (pwrite(trace_fd, bytes, size, (off_t)offset) != (ssize_t)size) {
		perror("write");
		exit(TEST_FAIL);
	}
}

/* Make the file the whole trace again, of which it still is most. */
static void restore(const struct build *build)
{
	off_t size = lseek(trace_fd, 0, SEEK_END);

	while (patch_count) {
		uint64_t offset = patches[--patch_count].offset;

		if (pwrite(trace_fd, build->bytes + offset, patches[patch_count].size,
			   (off_t)offset) < 0)
			exit(TEST_FAIL);
	}
	if ((uint64_t)size < build->size &&
	    pwrite(trace_fd, build->bytes + size, build->size - (uint64_t)size, size) < 0)
		exit(TEST_FAIL);
	if (ftruncate(trace_fd, (off_t)build->size) < 0)
		exit(TEST_FAIL);
}

static void find_used(struct seed *seed)
{
	static const uint8_t zeros[64];

	seed->used = calloc(seed->build.size / 64, sizeof(*seed->used));
	for (uint64_t at = 0; seed->used && at < seed->build.size; at += 64)
		if (memcmp(seed->build.bytes + at, zeros, 64) != 0)
			seed->used[seed->used_count++] = at;
}

static void seed_init(struct seed *seed, const struct build_case *one)
{
	struct outcome outcome;

	*seed = (struct seed){.name = one->name};
	build_init(&seed->build, one->size ? one->size : LAYOUT_SIZE_MIN);
	one->fill(&seed->build);
	find_used(seed);
	write_trace(&seed->build);
	limited_report(trace_fd, true, &outcome);
	if (outcome.code > 3 || !outcome.verdict[0]) {
		fprintf(stderr, "mangle: %s whole: exit code %d\n", one->name, outcome.code);
		exit(TEST_FAIL);
	}
	memcpy(seed->verdict, outcome.verdict, sizeof(seed->verdict));
}

static uint64_t used_byte(const struct seed *seed)
{
	return seed->used[chance(seed->used_count)] + chance(64);
}

static void flip(const struct seed *seed, uint64_t offset, unsigned bit)
{
	uint8_t byte = seed->build.bytes[offset] ^ (uint8_t)(1u << bit);

	patch(offset, &byte, 1);
}

static void put_number(const struct seed *seed)
{
	static const uint64_t numbers[] = {
		0,	    1,		UINT64_MAX, INT64_MAX,		1ull << 63,
		0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe,		1ull << 40,
		1ull << 32, 0xffff,	4096,	    0x8000000080000000,
	};
	uint64_t number = numbers[chance(sizeof(numbers) / sizeof(numbers[0]))];
	uint64_t offset = used_byte(seed) & ~7ull;

	if (chance(2))
		patch(offset + (chance(2) ? 4 : 0), &number, 4);
	else
		patch(offset, &number, 8);
}

static void mangle(const struct seed *seed, enum way way)
{
	uint64_t count = 1 + chance(64);

	switch (way) {
	case WAY_CUT:
		if (ftruncate(trace_fd,
			      (off_t)(chance(4) ? used_byte(seed) : chance(seed->build.size))) < 0)
			exit(TEST_FAIL);
		break;
	case WAY_BIT:
		flip(seed, used_byte(seed), (unsigned)chance(8));
		break;
	case WAY_BITS:
		while (count--)
			flip(seed, chance(seed->build.size), (unsigned)chance(8));
		break;
	default:
		for (count = 1 + count % 3; count; count--)
			put_number(seed);
		break;
	}
}

static void judge(const struct seed *seed, enum way way, uint64_t number,
		  const struct outcome *outcome, struct totals *totals)
{
	const char *name = way_names[way];

	totals->cases[way]++;
	totals->same[way] += strcmp(outcome->verdict, seed->verdict) == 0;
	if (outcome->code < 4)
		totals->codes[outcome->code]++;
	if (outcome->seconds > totals->seconds_max)
		totals->seconds_max = outcome->seconds;
	if (outcome->memory > totals->memory_max)
		totals->memory_max = outcome->memory;
	if (limited_kept(outcome))
		return;
	test_failures++;
	fprintf(stderr, "case %lu, %s of %s: exit code %d, %.1f s, %lu MiB\n",
		(unsigned long)number, name, seed->name, outcome->code, outcome->seconds,
		(unsigned long)(outcome->memory >> 20));
}

static void run_cases(const struct seed *seeds, unsigned seed_count, uint64_t first, uint64_t count,
		      struct totals *totals)
{
	const struct seed *last = NULL;

	for (uint64_t number = first; number < first + count; number++) {
		const struct seed *seed = &seeds[number / 100 % seed_count];
		enum way way = (enum way)(number % WAYS);
		struct outcome outcome;

		seed_start(number);
		if (seed != last)
			write_trace(&seed->build);
		last = seed;
		mangle(seed, way);
		/* Both read and judge the same way: a third as text is enough. */
		limited_report(trace_fd, number % 3 == 0, &outcome);
		judge(seed, way, number, &outcome, totals);
		restore(&seed->build);
	}
}

static void print_totals(const struct totals *totals)
{
	for (unsigned way = 0; way < WAYS; way++)
		printf("%-8s %5lu traces, %5lu with the verdict of the whole one\n", way_names[way],
		       (unsigned long)totals->cases[way], (unsigned long)totals->same[way]);
	printf("exit codes 0 to 3: %lu %lu %lu %lu; at most %.2f s, %lu MiB\n",
	       (unsigned long)totals->codes[0], (unsigned long)totals->codes[1],
	       (unsigned long)totals->codes[2], (unsigned long)totals->codes[3],
	       totals->seconds_max, (unsigned long)(totals->memory_max >> 20));
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : CASES;
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	struct totals totals = {0};
	struct seed seeds[32];
	unsigned seed_count = 0;

	trace_fd = memfd_create("trace", 0);
	if (trace_fd < 0)
		return TEST_SKIP;
	while (build_cases[seed_count].name && seed_count < 32) {
		seed_init(&seeds[seed_count], &build_cases[seed_count]);
		seed_count++;
	}
	run_cases(seeds, seed_count, first, count, &totals);
	print_totals(&totals);
	EXPECT(totals.same[WAY_BIT] >= totals.cases[WAY_BIT] / 2);
	EXPECT(totals.same[WAY_BITS] >= totals.cases[WAY_BITS] / 2);
	for (unsigned i = 0; i < seed_count; i++) {
		free(seeds[i].used);
		build_release(&seeds[i].build);
	}
	return test_result();
}
