#include "report/verdict_host.h"

#include <math.h>
#include <stdio.h>

#include "report/verdict.h"
#include "report/verdict_constants.h"

/* The lowest and highest of each part of the run but its first quarter. */
struct parts {
	double low[HOST_PARTS];
	double high[HOST_PARTS];
};

/* The least growth that is worth a word: bytes, and a share of what was there before. */
struct least {
	double bytes;
	double share;
};

/*
 * The floor rises from part to part, at a pace that holds on, and never gives back: what
 * fills once, slows down or comes in one leap is a cache, a warm-up or a jump.
 */
static bool grows(const struct parts *parts, double least)
{
	const unsigned last = HOST_PARTS - 1, middle = HOST_PARTS / 2;
	double growth = parts->low[last] - parts->low[0];
	double early = parts->low[middle - 1] - parts->low[0];
	double late = parts->low[last] - parts->low[middle];
	unsigned rises = 0;

	if (!(growth >= least))
		return false;
	for (unsigned i = 1; i < HOST_PARTS; i++) {
		double rise = parts->low[i] - parts->low[i - 1];

		if (rise < -HOST_FALL * growth || rise > HOST_LEAP * growth)
			return false;
		rises += rise >= HOST_RISE * growth / last;
	}
	return rises >= HOST_RISES && late >= HOST_LATE * early &&
	       parts->low[last] - parts->low[last - 1] >= HOST_RISE * growth / last &&
	       parts->high[last] - parts->high[0] >= growth / 2;
}

/* A series as it is in the file: lowest and highest of `values` values a bucket. */
struct series {
	const uint64_t *pairs; /* of the first bucket */
	uint32_t values;
	uint32_t count; /* buckets */
	uint32_t shift;
};

static uint32_t part_start(uint32_t count, uint32_t part)
{
	uint32_t warm = (count + 3) / 4;

	return warm + part * (count - warm) / HOST_PARTS;
}

static void read_parts(struct parts *parts, const struct series *series)
{
	for (uint32_t i = 0; i < HOST_PARTS; i++) {
		parts->low[i] = INFINITY;
		parts->high[i] = 0;
		for (uint32_t j = part_start(series->count, i);
		     j < part_start(series->count, i + 1); j++) {
			const uint64_t *pair = series->pairs + 2 * (size_t)series->values * j;

			parts->low[i] = fmin(parts->low[i], (double)pair[0]);
			parts->high[i] = fmax(parts->high[i], (double)pair[1]);
		}
	}
}

static void judge(struct verdict_growth *growth, const struct series *series, struct least least,
		  uint64_t now)
{
	const unsigned last = HOST_PARTS - 1;
	struct parts parts;

	*growth = (struct verdict_growth){.grows = false};
	if (now < VERDICT_MARKS_MIN || series->count < 2 * HOST_PARTS || series->shift > 31)
		return;
	read_parts(&parts, series);
	growth->grows = grows(&parts, fmax(least.bytes, least.share * parts.low[0]));
	if (!growth->grows)
		return;
	growth->bytes = parts.low[last] - parts.low[0];
	/* The floor of a part that rises is where the part begins. */
	growth->steps = (uint64_t)(part_start(series->count, last) - part_start(series->count, 0))
			<< series->shift;
	growth->bytes_per_step = growth->bytes / (double)growth->steps;
}

static uint32_t at_most(uint32_t count, uint32_t room)
{
	return count < room ? count : room;
}

void verdict_host(struct verdict_host *verdict, const struct gpuleak_host_version *version,
		  uint64_t now)
{
	struct series series = {
		.pairs = &version->levels[0].min_own,
		.values = 2,
		.count = at_most(version->level_count, GPULEAK_HOST_LEVELS),
		.shift = version->level_shift,
	};

	*verdict = (struct verdict_host){.own = {.grows = false}};
	if (version->own)
		judge(&verdict->own, &series, (struct least){HOST_OWN_BYTES, HOST_OWN_SHARE}, now);
	series.pairs = &version->levels[0].min_pinned;
	judge(&verdict->pinned, &series, (struct least){HOST_PINNED_BYTES, 0}, now);
}

void verdict_driver(struct verdict_growth *growth, const struct gpuleak_driver_version *version,
		    uint64_t now)
{
	struct series series = {
		.pairs = &version->levels[0].min_other,
		.values = 1,
		.count = at_most(version->level_count, GPULEAK_DRIVER_LEVELS),
		.shift = version->level_shift,
	};

	judge(growth, &series, (struct least){DRIVER_BYTES, DRIVER_SHARE}, now);
}

size_t verdict_driver_sentence(const struct verdict_growth *growth, char *buffer, size_t size)
{
	char bytes[32], rate[32], steps[32];
	int length = snprintf(
		buffer, size,
		"%s a step that no hook sees: %s in %s steps; a library that calls CUDA by "
		"another way, or another process",
		verdict_size_text(growth->bytes_per_step, rate, sizeof(rate)),
		verdict_size_text(growth->bytes, bytes, sizeof(bytes)),
		verdict_count_text(growth->steps, steps, sizeof(steps)));

	return length > 0 ? (size_t)length : 0;
}

size_t verdict_host_sentence(const struct verdict_host *verdict, char *buffer, size_t size)
{
	const struct verdict_growth *growth =
		verdict->pinned.grows ? &verdict->pinned : &verdict->own;
	char bytes[32], rate[32], steps[32];
	int length;

	if (!growth->grows) {
		length = snprintf(buffer, size, "the process's own memory doesn't grow");
	} else {
		length = snprintf(buffer, size,
				  "%s memory grows by %s a step: %s in %s steps, none given back",
				  verdict->pinned.grows ? "pinned host" : "the process's own",
				  verdict_size_text(growth->bytes_per_step, rate, sizeof(rate)),
				  verdict_size_text(growth->bytes, bytes, sizeof(bytes)),
				  verdict_count_text(growth->steps, steps, sizeof(steps)));
	}
	return length > 0 ? (size_t)length : 0;
}
