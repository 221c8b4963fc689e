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

typedef uint64_t (*level_value)(const struct gpuleak_host_level *level);

static uint64_t min_own(const struct gpuleak_host_level *level)
{
	return level->min_own;
}

static uint64_t max_own(const struct gpuleak_host_level *level)
{
	return level->max_own;
}

static uint64_t min_pinned(const struct gpuleak_host_level *level)
{
	return level->min_pinned;
}

static uint64_t max_pinned(const struct gpuleak_host_level *level)
{
	return level->max_pinned;
}

static void read_parts(struct parts *parts, const struct gpuleak_host_level *levels, uint32_t count,
		       level_value low, level_value high)
{
	uint32_t warm = (count + 3) / 4;
	uint32_t left = count - warm;

	for (uint32_t i = 0; i < HOST_PARTS; i++) {
		parts->low[i] = INFINITY;
		parts->high[i] = 0;
		for (uint32_t j = warm + i * left / HOST_PARTS;
		     j < warm + (i + 1) * left / HOST_PARTS; j++) {
			parts->low[i] = fmin(parts->low[i], (double)low(&levels[j]));
			parts->high[i] = fmax(parts->high[i], (double)high(&levels[j]));
		}
	}
}

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

static void judge(struct verdict_growth *growth, const struct parts *parts, double least,
		  uint64_t now)
{
	*growth = (struct verdict_growth){.grows = grows(parts, least)};
	if (!growth->grows)
		return;
	growth->bytes = parts->low[HOST_PARTS - 1] - parts->low[0];
	/* From the first part to the last: all but the first quarter, and one part. */
	growth->steps = (uint64_t)((double)now * 0.75 * (HOST_PARTS - 1) / HOST_PARTS);
	if (growth->steps)
		growth->bytes_per_step = growth->bytes / (double)growth->steps;
}

void verdict_host(struct verdict_host *verdict, const struct gpuleak_host_version *version,
		  uint64_t now)
{
	uint32_t count = version->level_count;
	struct parts parts;

	*verdict = (struct verdict_host){.own = {.grows = false}};
	if (count > GPULEAK_HOST_LEVELS)
		count = GPULEAK_HOST_LEVELS;
	/* The last bucket may hold a mark or two: what it lacks looks like a rise. */
	if (now < VERDICT_MARKS_MIN || count < 2 * HOST_PARTS)
		return;
	read_parts(&parts, version->levels, count, min_own, max_own);
	if (version->own)
		judge(&verdict->own, &parts, fmax(HOST_OWN_BYTES, HOST_OWN_SHARE * parts.low[0]),
		      now);
	read_parts(&parts, version->levels, count, min_pinned, max_pinned);
	judge(&verdict->pinned, &parts, HOST_PINNED_BYTES, now);
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
