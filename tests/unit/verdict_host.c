/* Which histories of the process's memory are called growth. */
#include "report/verdict_host.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/verdict.h"

#include "test.h"

enum {
	MIB = 1 << 20
};

/* Bytes at a mark of a run of `steps`. */
typedef double (*history)(double mark, double steps);

/* The buckets as the tracer fills them; the same history for both kinds. */
static struct gpuleak_host_version record(history of, uint32_t steps)
{
	struct gpuleak_host_version host = {.mark = steps};

	while (steps >> host.level_shift >= GPULEAK_HOST_LEVELS)
		host.level_shift++;
	for (uint32_t mark = 1; mark <= steps; mark++) {
		struct gpuleak_host_level *level = &host.levels[mark >> host.level_shift];
		uint64_t bytes = (uint64_t)of(mark, steps);

		if (!level->max_own || bytes < level->min_own)
			level->min_own = level->min_pinned = bytes;
		if (bytes > level->max_own)
			level->max_own = level->max_pinned = bytes;
		host.level_count = (mark >> host.level_shift) + 1;
		host.own = host.resident = host.pinned = bytes;
	}
	if (!host.level_shift)
		host.levels[0] = host.levels[1];
	return host;
}

static double noise(void)
{
	return (double)rand() / RAND_MAX;
}

static double flat(double mark, double steps)
{
	(void)mark, (void)steps;
	return 500.0 * MIB + 3 * MIB * noise();
}

static double leak(double mark, double steps)
{
	return 500.0 * MIB + 100.0 * MIB * mark / steps + 3 * MIB * noise();
}

static double leak_in_pieces(double mark, double steps)
{
	return 500.0 * MIB + 5.0 * MIB * floor(mark / steps * 30);
}

static double small(double mark, double steps)
{
	return 500.0 * MIB + 3.0 * MIB * mark / steps;
}

static double fills(double mark, double steps)
{
	return 500.0 * MIB + 900.0 * MIB * fmin(1, mark / steps / 0.6);
}

static double fades(double mark, double steps)
{
	return 500.0 * MIB + 100.0 * MIB * log(1 + 20 * mark / steps);
}

static double jumps(double mark, double steps)
{
	return (mark < steps * 0.6 ? 500.0 : 900.0) * MIB + mark * 100;
}

static double two_jumps(double mark, double steps)
{
	return (500.0 + 200 * (mark > steps * 0.4) + 200 * (mark > steps * 0.8)) * MIB;
}

static double teeth(double mark, double steps)
{
	(void)steps;
	return 500.0 * MIB + 10.0 * MIB * fmod(mark, 7);
}

static double large_teeth(double mark, double steps)
{
	return 500.0 * MIB + 400.0 * MIB * fmod(mark / steps * 2.7, 1);
}

static double wild(double mark, double steps)
{
	(void)mark, (void)steps;
	return 300.0 * MIB + 500.0 * MIB * noise();
}

static double falls(double mark, double steps)
{
	return 900.0 * MIB - 300.0 * MIB * mark / steps;
}

static const struct {
	const char *name;
	history of;
	bool own;
} histories[] = {
	{"flat", flat, false},
	{"leak", leak, true},
	{"leak in pieces", leak_in_pieces, true},
	{"small", small, false},
	{"fills", fills, false},
	{"fades", fades, false},
	{"jumps", jumps, false},
	{"two jumps", two_jumps, false},
	{"teeth", teeth, false},
	{"large teeth", large_teeth, false},
	{"wild", wild, false},
	{"falls", falls, false},
};

static void each_history(void)
{
	for (size_t i = 0; i < sizeof(histories) / sizeof(histories[0]); i++) {
		for (uint32_t steps = 20; steps < 200000; steps = steps * 5 / 3 + 7) {
			struct gpuleak_host_version host = record(histories[i].of, steps);
			struct verdict_host verdict;

			verdict_host(&verdict, &host, steps);
			if (verdict.own.grows == histories[i].own)
				continue;
			test_failed(__FILE__, __LINE__);
			fprintf(stderr, "%s in %u steps: %s\n", histories[i].name, (unsigned)steps,
				verdict.own.grows ? "grows" : "doesn't grow");
		}
	}
}

static void rate_is_right(void)
{
	struct gpuleak_host_version host = record(leak, 5000);
	struct verdict_host verdict;

	verdict_host(&verdict, &host, 5000);
	EXPECT(fabs(verdict.own.bytes_per_step / (100.0 * MIB / 5000) - 1) < 0.03);
	EXPECT(fabs(verdict.pinned.bytes_per_step / verdict.own.bytes_per_step - 1) < 0.01);
}

/* Nothing is known of a host without a section, or of a trace in memory. */
static void unknown(void)
{
	struct gpuleak_host_version host = {.mark = 0};
	struct verdict_host verdict;

	verdict_host(&verdict, &host, 1000);
	EXPECT(!verdict.own.grows && !verdict.pinned.grows);
	host = record(leak, 1000);
	host.own = 0;
	verdict_host(&verdict, &host, 1000);
	EXPECT(!verdict.own.grows && verdict.pinned.grows);
	verdict_host(&verdict, &host, 19);
	EXPECT(!verdict.pinned.grows);
}

/* Any bytes: no crash, and a sentence that fits. */
static void any_bytes(void)
{
	struct gpuleak_host_version host;
	struct verdict_host verdict;
	char sentence[VERDICT_SENTENCE];

	for (unsigned i = 0; i < 2000; i++) {
		uint8_t *bytes = (uint8_t *)&host;

		for (size_t j = 0; j < sizeof(host); j++)
			bytes[j] = i % 3 ? (uint8_t)rand() : (uint8_t)(i % 2 ? 0xff : 0);
		verdict_host(&verdict, &host, (uint64_t)rand() << (i % 40));
		EXPECT(verdict_host_sentence(&verdict, sentence, sizeof(sentence)) <
		       sizeof(sentence));
	}
}

int main(void)
{
	srand(1);
	each_history();
	rate_is_right();
	unknown();
	any_bytes();
	return test_result();
}
