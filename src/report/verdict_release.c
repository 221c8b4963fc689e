/*
 * The release age: the oldest age at which a site demonstrably gives memory back.
 * A life table over the ages at death and the ages of what is alive.
 */
#include "report/verdict_parts.h"

#include <math.h>
#include <stddef.h>

#include "report/verdict_constants.h"

/* Ages of class 0: 0; of class i: 2^(i-1) to 2^i - 1; of the last class: no end. */
static int64_t class_end(uint32_t class)
{
	return class + 1 < GPULEAK_DEATHS ? (INT64_C(1) << class) - 1 : STEP_MAX;
}

static uint32_t class_of(int64_t age)
{
	uint32_t class = age > 0 ? 64 - (uint32_t)__builtin_clzll((uint64_t)age) : 0;

	return class < GPULEAK_DEATHS ? class : GPULEAK_DEATHS - 1;
}

/* Blocks alive by class of age, each range clipped so that one jump doesn't outweigh all. */
static void count_survivors(const struct births *births, int64_t now, double *survivors)
{
	double sorted[GPULEAK_BIRTHS];
	double clip;

	for (uint32_t i = 0; i < births->count; i++)
		sorted[i] = births->ranges[i].blocks;
	clip = CLIP * quantile(sorted, births->count, 0.5);
	for (uint32_t i = 0; i < GPULEAK_DEATHS; i++)
		survivors[i] = 0;
	for (uint32_t i = 0; i < births->count; i++) {
		const struct birth_range *range = &births->ranges[i];
		int64_t age = now - (range->lo + range->hi) / 2;

		survivors[class_of(age)] += fmin(range->blocks, clip);
	}
}

/*
 * Nothing that is alive is older than what has been given back: a queue that is
 * full, however recently.
 */
static bool oldest_is_young(const struct gpuleak_evidence_version *evidence,
			    const struct births *births, int64_t now, int64_t max_age)
{
	uint32_t first = births->width == 1 && births->count && births->ranges[0].lo == 0;

	return evidence->deaths[class_of(max_age)] >= HAZARD_DEATHS && first < births->count &&
	       now - births->ranges[first].hi <= max_age;
}

struct release release_read(const struct gpuleak_evidence_version *evidence,
			    const struct births *births, int64_t now, int64_t max_age)
{
	struct release release = {0};
	double survivors[GPULEAK_DEATHS];
	double entered = 0;

	if (max_age > 0 && oldest_is_young(evidence, births, now, max_age))
		return (struct release){.known = true, .age = max_age};
	count_survivors(births, now, survivors);
	for (uint32_t i = GPULEAK_DEATHS; i-- > 0;) {
		double deaths = evidence->deaths[i];

		entered += deaths + survivors[i];
		if (deaths < HAZARD_DEATHS || deaths < HAZARD * (entered - survivors[i] / 2))
			continue;
		release.known = true;
		release.age = class_end(i) < max_age ? class_end(i) : max_age;
		break;
	}
	return release;
}

double release_count(const struct gpuleak_evidence_version *evidence)
{
	double sum = 0;

	for (uint32_t i = 1; i < GPULEAK_DEATHS; i++)
		sum += evidence->deaths[i];
	return sum;
}

int64_t release_middle(const struct gpuleak_evidence_version *evidence)
{
	double sum = release_count(evidence);
	double below = 0;

	for (uint32_t i = 1; i < GPULEAK_DEATHS; i++) {
		below += evidence->deaths[i];
		if (sum > 0 && 2 * below >= sum)
			return INT64_C(1) << (i - 1);
	}
	return 0;
}
