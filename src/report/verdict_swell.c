/*
 * What grows without an old survivor: one block replaced by ever larger ones, a queue that
 * gets longer.
 */
#include "report/verdict_parts.h"

#include <math.h>

#include "report/verdict_constants.h"

/* The whole buckets from the first one on that is never empty. */
struct minima {
	uint32_t count;
	const struct gpuleak_level *buckets;
};

static struct minima minima_find(const struct levels *levels)
{
	struct minima minima = {.count = levels->count - levels->partial,
				.buckets = levels->buckets};

	while (minima.count && minima.buckets->min_bytes == 0) {
		minima.buckets++;
		minima.count--;
	}
	return minima;
}

/* Never falls; rises often, evenly enough, with no jump in it, and to the end. */
static bool climbs(const double *values, uint32_t count)
{
	double rises[GPULEAK_LEVELS];
	double growth = values[count - 1] - values[0];
	uint32_t found = 0;
	double largest, middle;

	for (uint32_t i = 0; i + 1 < count; i++) {
		if (values[i + 1] < values[i])
			return false;
		if (values[i + 1] > values[i])
			rises[found++] = values[i + 1] - values[i];
	}
	if (found < ROUNDS_LEAK || values[count - 1] < SWELL_BYTES * values[0])
		return false;
	middle = quantile(rises, found, 0.5);
	largest = rises[found - 1];
	if (found < SWELL_RISES && largest > SWELL_RISE_EVEN * middle)
		return false;
	return largest <= SWELL_RISE_SHARE * growth &&
	       values[count - 1] - values[count - 1 - count / 4] >= SWELL_LATE * growth;
}

static void describe(struct swell *swell, const struct levels *levels, const struct minima *minima)
{
	const struct gpuleak_level *first = minima->buckets;
	const struct gpuleak_level *last = &minima->buckets[minima->count - 1];

	swell->found = true;
	for (uint32_t i = 0; i < minima->count; i++)
		swell->mean += (double)minima->buckets[i].min_bytes / minima->count;
	swell->factor = (double)last->min_bytes / (double)first->min_bytes;
	swell->bytes = last->min_bytes > first->min_bytes ? last->min_bytes - first->min_bytes : 0;
	swell->steps = (minima->count - 1) * levels->width;
	swell->first = (double)first->min_bytes;
	swell->first_mark = (first - levels->buckets) * levels->width;
	swell->early = (double)levels->buckets[(uint32_t)(SWELL_EARLY * levels->count)].min_bytes;
	swell->late = (double)levels->buckets[(uint32_t)(SWELL_LATER * levels->count)].min_bytes;
}

struct swell swell_read(const struct levels *levels)
{
	struct swell swell = {0};
	struct minima minima = minima_find(levels);
	const struct gpuleak_level *buckets = minima.buckets;
	double values[GPULEAK_LEVELS];

	if (minima.count < SWELL_LEVELS ||
	    buckets[minima.count - 1].max_blocks > SWELL_BLOCKS * buckets->max_blocks)
		return swell;
	for (uint32_t i = 0; i < minima.count; i++)
		values[i] = (double)buckets[i].min_bytes;
	if (climbs(values, minima.count))
		describe(&swell, levels, &minima);
	return swell;
}

/*
 * How the demand of the steps grew, the site itself left out: while it replaces its
 * block both are alive.
 */
double swell_demand(const struct swell *swell, const struct verdict_timeline *timeline)
{
	double first = timeline->demand_first - swell->early;
	double last = timeline->demand_last - swell->late;

	return first > 0 && last > SWELL_SHARE * swell->late ? last / first : 1;
}

/* The demand rose by no more than the site's own block accounts for. */
static bool rise_is_own(const struct swell *swell, const struct verdict_timeline *timeline)
{
	double rise = timeline->demand_last - timeline->demand_first;

	return rise <= SWELL_OWN_MOST * (swell->late - swell->early);
}

/* ... and too little else goes on to hide a rise. */
bool swell_is_flat(const struct swell *swell, const struct verdict_timeline *timeline)
{
	double rise = timeline->demand_last - timeline->demand_first;
	double own = swell->late - swell->early;

	return rise_is_own(swell, timeline) && rise >= -SWELL_OWN_LEAST * own &&
	       timeline->demand_swing <= own;
}

/*
 * It began with no more than what a few rounds add.  Inputs of a curriculum are there from the
 * first mark on, with many times of what they grow by in a step.
 */
static bool began_with_little(const struct swell *swell, const struct gpuleak_site_version *version)
{
	double per_step = (double)swell->bytes / (double)swell->steps;
	double per_round = fmax(per_step, (double)swell->bytes / fmax((double)version->allocs, 1));
	double unseen = fmax((double)swell->first_mark - version->first_step, 0);
	double most = version->first_step ? SWELL_BEGUN : SWELL_BEGUN_EARLY;

	return swell->first - unseen * per_step <= most * per_round;
}

/* From next to nothing, as what only ever adds does, and far more than the demand. */
bool swell_is_pure(const struct swell *swell, const struct levels *levels,
		   const struct gpuleak_site_version *version,
		   const struct verdict_timeline *timeline, double demand)
{
	double rounds = (double)version->allocs;
	double pure = fmin(SWELL_PURE * levels->count, fmax(SWELL_LEAST, 1 + SWELL_ROUND * rounds));

	return swell->factor >= pure && swell->factor >= SWELL_DEMAND * demand &&
	       (rise_is_own(swell, timeline) || began_with_little(swell, version));
}

/* How many of the sites that keep nothing grew less than that. */
static size_t count_below(const struct verdict_site_input *input, double growth)
{
	size_t low = 0;
	size_t high = input->company_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (input->company[middle] < growth)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* How many of them allocate blocks that grew as the site's own did. */
static uint32_t count_company(const struct verdict_site_input *input, double own)
{
	size_t weaker = count_below(input, 1 + COMPANY_WEAK * own);

	return u32_of((double)(count_below(input, 1 + COMPANY_STRONG * own) - weaker));
}

bool swell_in_company(struct verdict_site *site, const struct swell *swell,
		      const struct verdict_site_input *input)
{
	double own = (double)input->version->live_bytes / swell->mean - 1;

	if (own < COMPANY_GROWTH - 1 || began_with_little(swell, input->version))
		return false;
	site->company_grew = count_company(input, own);
	site->company_of = u32_of((double)input->company_count);
	return site->company_grew >= COMPANY_LEAST &&
	       site->company_grew >= COMPANY_SHARE * site->company_of;
}

/* The last rises are like the others: it hasn't just filled. */
static bool goes_on(const double *values, uint32_t count)
{
	double mean = (values[count - 1] - values[0]) / (count - 1);

	return values[count - 1] - values[count - 3] >= BACKLOG_LAST * 2 * mean;
}

struct swell backlog_read(const struct levels *levels)
{
	struct swell swell = {0};
	struct minima minima = minima_find(levels);
	double values[GPULEAK_LEVELS];

	if (minima.count < SWELL_LEVELS)
		return swell;
	for (uint32_t i = 0; i < minima.count; i++)
		values[i] = minima.buckets[i].min_blocks;
	if (climbs(values, minima.count) && goes_on(values, minima.count))
		describe(&swell, levels, &minima);
	return swell;
}
