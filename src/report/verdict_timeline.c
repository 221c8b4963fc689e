/*
 * What the timeline of a device says: how the demand of the steps moved, what the
 * cache holds beyond the peak, how long a step takes.
 */
#include "report/verdict.h"

#include <math.h>
#include <string.h>

#include "report/verdict_constants.h"
#include "report/verdict_parts.h"

enum {
	SAMPLES = 64, /* entries looked at of each block */
};

/* Entries in ascending order of steps, as far as they are in order. */
struct series {
	const struct gpuleak_timeline_entry *entries;
	size_t count;
};

/*
 * What a step needed beside what stayed.  Where an entry is of several steps, what was
 * allocated more at its end than at the end of the one before isn't demand.
 */
static double demand_of(const struct series *series, size_t i)
{
	const struct gpuleak_timeline_entry *entry = &series->entries[i];
	double demand = (double)entry->peak - (double)entry->trough;

	if (i && entry->last_step > entry->first_step)
		demand -= fmax((double)entry->allocated - (double)entry[-1].allocated, 0);
	return fmax(demand, 0);
}

/* The demand at up to SAMPLES of entries first to end - 1, evenly picked. */
static uint32_t sample_demand(const struct series *series, size_t first, size_t end, double *values)
{
	size_t count = end - first < SAMPLES ? end - first : SAMPLES;

	for (size_t i = 0; i < count; i++)
		values[i] = demand_of(series, first + i * (end - first) / count);
	return (uint32_t)count;
}

static double kendall(const double *values, uint32_t count)
{
	double score = 0;

	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = i + 1; j < count; j++)
			score += (values[j] > values[i]) - (values[j] < values[i]);
	return score / (count * (count - 1) / 2.0);
}

/* The lowest trough of entries first to end - 1. */
static double floor_of(const struct series *series, size_t first, size_t end)
{
	uint64_t lowest = UINT64_MAX;

	for (size_t i = first; i < end; i++)
		if (series->entries[i].trough < lowest)
			lowest = series->entries[i].trough;
	return (double)lowest;
}

static void read_demand(struct verdict_timeline *timeline, const struct series *series)
{
	size_t warm = (size_t)(DEMAND_WARM_UP * (double)series->count) + 1;
	size_t left = series->count > warm ? series->count - warm : 0;
	double middles[DEMAND_BLOCKS], spreads[DEMAND_BLOCKS], values[SAMPLES];

	if (left < DEMAND_BLOCKS)
		return;
	for (uint32_t i = 0; i < DEMAND_BLOCKS; i++) {
		uint32_t count = sample_demand(series, warm + i * left / DEMAND_BLOCKS,
					       warm + (i + 1) * left / DEMAND_BLOCKS, values);

		middles[i] = quantile(values, count, 0.5);
		spreads[i] = quantile(values, count, 0.9) - quantile(values, count, 0.1);
	}
	timeline->demand_tau = kendall(middles, DEMAND_BLOCKS);
	timeline->demand_middle = (middles[DEMAND_BLOCKS / 2 - 1] + middles[DEMAND_BLOCKS / 2]) / 2;
	timeline->demand_first = (middles[0] + middles[1]) / 2;
	timeline->demand_last = (middles[DEMAND_BLOCKS - 2] + middles[DEMAND_BLOCKS - 1]) / 2;
	timeline->floor_growth =
		floor_of(series, series->count - 2 * left / DEMAND_BLOCKS, series->count) -
		floor_of(series, warm, warm + 2 * left / DEMAND_BLOCKS);
	timeline->demand_swing = quantile(spreads, DEMAND_BLOCKS, 0.5);
	if (timeline->demand_first > 0)
		timeline->demand_growth = timeline->demand_last / timeline->demand_first;
}

/* What is reserved above what the highest peak so far needs. */
static void read_stranded(struct verdict_timeline *timeline, const struct series *series)
{
	double peak = 0;
	double early = 0;

	for (size_t i = 0; i < series->count; i++) {
		const struct gpuleak_timeline_entry *entry = &series->entries[i];
		double stranded;

		peak = fmax(peak, (double)entry->peak);
		stranded = (double)entry->reserved - FRAGMENT_PEAK * peak;
		if (i == series->count / 4) {
			timeline->stranded_first = stranded;
			early = peak;
		}
		if (i == series->count - 1 - series->count / 4)
			timeline->stranded_late = stranded;
		timeline->stranded_last = stranded;
	}
	timeline->peak_growth = peak - early;
}

static void read_peaks(struct verdict_timeline *timeline, const struct series *series)
{
	const struct gpuleak_timeline_entry *last = &series->entries[series->count - 1];

	timeline->reserved = last->reserved;
	for (size_t i = 0; i < series->count; i++) {
		uint64_t peak = series->entries[i].peak;

		if (peak > timeline->peak)
			timeline->peak = peak;
		if (i >= series->count - (series->count + 9) / 10 && peak > timeline->last_peak)
			timeline->last_peak = peak;
	}
}

static void read_pace(struct verdict_timeline *timeline, const struct series *series)
{
	const struct gpuleak_timeline_entry *middle = &series->entries[series->count / 2];
	const struct gpuleak_timeline_entry *last = &series->entries[series->count - 1];

	if (last->last_step > middle->last_step && last->when > middle->when)
		timeline->seconds_per_step = (double)(last->when - middle->when) / 1e9 /
					     (last->last_step - middle->last_step);
}

/* Entries from the first one out of order on are left out. */
static size_t count_in_order(const struct gpuleak_timeline_entry *entries, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (entries[i].last_step < entries[i].first_step ||
		    (i && entries[i].first_step <= entries[i - 1].last_step))
			return i;
	return count;
}

void verdict_timeline(struct verdict_timeline *timeline,
		      const struct gpuleak_timeline_entry *entries, size_t count)
{
	struct series series = {.entries = entries, .count = count_in_order(entries, count)};

	*timeline = (struct verdict_timeline){.demand_growth = 1, .floor_growth = INFINITY};
	if (series.count == 0)
		return;
	read_demand(timeline, &series);
	read_stranded(timeline, &series);
	read_peaks(timeline, &series);
	read_pace(timeline, &series);
}
