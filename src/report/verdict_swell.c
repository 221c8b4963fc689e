/*
 * The live series: what a site held at the marks.  It shows what births can't: one
 * block replaced by ever larger ones, and births matched by deaths.
 */
#include "report/verdict_parts.h"

#include <math.h>
#include <string.h>

#include "report/verdict_constants.h"

static void level_join(struct gpuleak_level *level, const struct gpuleak_level *other)
{
	if (other->min_bytes < level->min_bytes)
		level->min_bytes = other->min_bytes;
	if (other->max_bytes > level->max_bytes)
		level->max_bytes = other->max_bytes;
	if (other->min_blocks < level->min_blocks)
		level->min_blocks = other->min_blocks;
	if (other->max_blocks > level->max_blocks)
		level->max_blocks = other->max_blocks;
}

static void levels_widen(struct levels *levels)
{
	for (uint32_t i = 0; i < levels->count; i++) {
		if (i % 2)
			level_join(&levels->buckets[i / 2], &levels->buckets[i]);
		else
			levels->buckets[i / 2] = levels->buckets[i];
	}
	levels->count = (levels->count + 1) / 2;
	levels->width *= 2;
}

/* Marks after the last bucket in use had what is live now. */
void levels_read(struct levels *levels, const struct gpuleak_evidence_version *evidence,
		 const struct gpuleak_site_version *version, int64_t now)
{
	struct gpuleak_level today = {.min_bytes = version->live_bytes,
				      .max_bytes = version->live_bytes,
				      .min_blocks = version->live_blocks,
				      .max_blocks = version->live_blocks};
	uint32_t shift = evidence->level_shift < 31 ? evidence->level_shift : 31;
	uint32_t needed;

	levels->count = evidence->level_count;
	levels->width = INT64_C(1) << shift;
	if (levels->count > GPULEAK_LEVELS)
		levels->count = GPULEAK_LEVELS;
	memcpy(levels->buckets, evidence->levels, levels->count * sizeof(levels->buckets[0]));
	while (now / levels->width >= GPULEAK_LEVELS)
		levels_widen(levels);
	needed = (uint32_t)(now / levels->width) + 1;
	while (levels->count < needed)
		levels->buckets[levels->count++] = today;
	levels->count = needed;
	levels->partial = (now + 1) % levels->width != 0;
}

struct gpuleak_level levels_range(const struct levels *levels, uint32_t first)
{
	struct gpuleak_level range = levels->buckets[levels->count - 1];

	for (uint32_t i = first; i < levels->count; i++)
		level_join(&range, &levels->buckets[i]);
	return range;
}

bool levels_replaced(const struct levels *levels, const struct births *births, int64_t cut,
		     int64_t *since)
{
	struct gpuleak_level range = levels->buckets[levels->count - 1];
	uint32_t left = births->count;
	double born = 0; /* after the first mark of bucket i, and alive */
	bool found = false;

	for (uint32_t i = levels->count - 1; i > 0; i--) {
		level_join(&range, &levels->buckets[i]);
		for (; left && births->ranges[left - 1].lo > i * levels->width; left--)
			if (births->ranges[left - 1].hi <= cut)
				born += births->ranges[left - 1].blocks;
		if (born < NET_BLOCKS ||
		    (double)range.max_blocks - range.min_blocks >= NET_SHARE * born)
			continue;
		*since = i * levels->width;
		found = true;
	}
	return found;
}

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
	swell->factor = (double)last->min_bytes / (double)first->min_bytes;
	swell->bytes = last->min_bytes > first->min_bytes ? last->min_bytes - first->min_bytes : 0;
	swell->steps = (minima->count - 1) * levels->width;
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

/*
 * The demand rose by no more than the site's own block accounts for, and too little
 * else goes on to hide a rise.
 */
bool swell_is_flat(const struct swell *swell, const struct verdict_timeline *timeline)
{
	double rise = timeline->demand_last - timeline->demand_first;
	double own = swell->late - swell->early;

	return rise <= SWELL_OWN_MOST * own && rise >= -SWELL_OWN_LEAST * own &&
	       timeline->demand_swing <= own;
}

/* From next to nothing, as what only ever adds does, and far more than the demand. */
bool swell_is_pure(const struct swell *swell, const struct levels *levels, double rounds,
		   double demand)
{
	double pure = fmin(SWELL_PURE * levels->count, fmax(SWELL_LEAST, 1 + SWELL_ROUND * rounds));

	return swell->factor >= pure && swell->factor >= SWELL_DEMAND * demand;
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
