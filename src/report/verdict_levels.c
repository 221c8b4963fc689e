/*
 * The live series: what a site held at the marks.  It shows what births can't: births matched by
 * deaths, what was filled and then stayed.
 */
#include "report/verdict_parts.h"

#include <string.h>

#include "report/verdict_constants.h"
#include "trace/level.h"

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

int64_t levels_filled_since(const struct levels *levels)
{
	uint32_t i = levels->count - 1;

	while (i > 0 && (double)levels->buckets[i - 1].min_bytes >=
				(1 - FLAT) * (double)levels->buckets[levels->count - 1].max_bytes)
		i--;
	return i * levels->width;
}

static bool flat(const struct gpuleak_level *range)
{
	return (double)range->max_bytes - (double)range->min_bytes <=
	       FLAT * (double)range->max_bytes;
}

bool levels_filled(const struct levels *levels, uint64_t live_bytes)
{
	struct gpuleak_level late = levels_range(levels, levels->count - (levels->count + 2) / 3);
	const struct gpuleak_level *first = &levels->buckets[levels->count / 16];
	double early = (double)first->min_bytes;

	return flat(&late) && early < PLATEAU_RISE * (double)live_bytes;
}

bool levels_never_fell(const struct levels *levels)
{
	uint32_t highest = 0;

	for (uint32_t i = 0; i < levels->count; i++) {
		const struct gpuleak_level *level = &levels->buckets[i];

		if (highest >= SAWTOOTH_SWING && level->min_blocks <= highest - SAWTOOTH_SWING)
			return false;
		if (level->max_blocks > highest)
			highest = level->max_blocks;
	}
	return true;
}
