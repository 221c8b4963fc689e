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

/* Often, evenly enough, with no jump in it, and to the end. */
static bool minima_rises(const struct minima *minima, double growth)
{
	const struct gpuleak_level *last = &minima->buckets[minima->count - 1];
	const struct gpuleak_level *late = &minima->buckets[minima->count - 1 - minima->count / 4];
	double rises[GPULEAK_LEVELS];
	uint32_t count = 0;
	double largest, middle;

	for (uint32_t i = 0; i + 1 < minima->count; i++) {
		double rise = (double)minima->buckets[i + 1].min_bytes -
			      (double)minima->buckets[i].min_bytes;

		if (rise < 0)
			return false;
		if (rise > 0)
			rises[count++] = rise;
	}
	if (count < ROUNDS_LEAK)
		return false;
	middle = quantile(rises, count, 0.5);
	largest = rises[count - 1];
	if (count < SWELL_RISES && largest > SWELL_RISE_EVEN * middle)
		return false;
	return largest <= SWELL_RISE_SHARE * growth &&
	       (double)last->min_bytes - (double)late->min_bytes >= SWELL_LATE * growth;
}

struct swell swell_read(const struct levels *levels)
{
	struct swell swell = {0};
	struct minima minima = minima_find(levels);
	const struct gpuleak_level *first = minima.buckets;
	const struct gpuleak_level *last;
	double growth;

	if (minima.count < SWELL_LEVELS)
		return swell;
	last = &minima.buckets[minima.count - 1];
	if (last->max_blocks > SWELL_BLOCKS * first->max_blocks)
		return swell;
	growth = (double)last->min_bytes - (double)first->min_bytes;
	swell.factor = (double)last->min_bytes / (double)first->min_bytes;
	if (growth <= 0 || swell.factor < SWELL_BYTES || !minima_rises(&minima, growth))
		return swell;
	swell.found = true;
	swell.bytes = last->min_bytes - first->min_bytes;
	swell.steps = (minima.count - 1) * levels->width;
	swell.early = (double)levels->buckets[(uint32_t)(SWELL_EARLY * levels->count)].min_bytes;
	swell.late = (double)levels->buckets[(uint32_t)(SWELL_LATER * levels->count)].min_bytes;
	return swell;
}
