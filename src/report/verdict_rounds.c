/*
 * Rounds: the birth ranges whose survivors are older than the site normally keeps
 * anything.  How many, how regular, whether they still come, whether ever fewer.
 */
#include "report/verdict_parts.h"

#include <math.h>
#include <string.h>

#include "report/verdict_constants.h"

void births_read(struct births *births, const struct gpuleak_evidence_version *evidence,
		 int64_t now)
{
	uint32_t shift = evidence->birth_shift < 31 ? evidence->birth_shift : 31;
	uint32_t count = evidence->birth_count;
	int64_t next = 0;

	memset(births, 0, sizeof(*births));
	births->width = INT64_C(1) << shift;
	if (count > GPULEAK_BIRTHS)
		count = GPULEAK_BIRTHS;
	for (uint32_t i = 0; i < count; i++) {
		const struct gpuleak_birth *birth = &evidence->births[i];
		int64_t lo = (int64_t)birth->bucket << shift;

		if (lo < next || lo > now || birth->count == 0)
			continue;
		next = lo + births->width;
		births->ranges[births->count++] =
			(struct birth_range){.lo = lo,
					     .hi = next - 1,
					     .blocks = birth->count,
					     .bytes = (double)birth->bytes};
	}
}

/* In place; the arrays have 32 values or 64, so the plainest sort will do. */
static void sort(double *values, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		double value = values[i];
		uint32_t j = i;

		for (; j > 0 && values[j - 1] > value; j--)
			values[j] = values[j - 1];
		values[j] = value;
	}
}

double quantile(double *values, uint32_t count, double share)
{
	if (count == 0)
		return 0;
	sort(values, count);
	return values[(uint32_t)(share * (count - 1) + 0.5)];
}

void rounds_measure(struct rounds *rounds)
{
	uint32_t gaps = rounds->count ? rounds->count - 1 : 0;
	double squares = 0;

	rounds->mean_gap = (double)rounds->width;
	rounds->largest_gap = (double)rounds->width;
	if (gaps == 0)
		return;
	rounds->mean_gap = (double)(rounds->ranges[gaps].lo - rounds->ranges[0].lo) / gaps;
	rounds->largest_gap = 0;
	for (uint32_t i = 0; i < gaps; i++) {
		double gap = (double)(rounds->ranges[i + 1].lo - rounds->ranges[i].lo);

		rounds->largest_gap = fmax(rounds->largest_gap, gap);
		squares += (gap - rounds->mean_gap) * (gap - rounds->mean_gap);
	}
	rounds->even =
		rounds->exact && gaps >= 2 && sqrt(squares / gaps) < GAP_SPREAD * rounds->mean_gap;
}

/*
 * A coarse first range holds the baseline too, so it is a round only where enough
 * others show that the site goes on.
 */
void rounds_select(struct rounds *rounds, const struct births *births, int64_t cut)
{
	uint32_t first = 0;
	uint32_t end = 0;

	memset(rounds, 0, sizeof(*rounds));
	rounds->width = births->width;
	rounds->exact = births->width == 1;
	rounds->cut = cut;
	while (end < births->count && births->ranges[end].hi <= cut)
		end++;
	if (end && births->ranges[0].lo == 0 && (rounds->exact || end <= ROUNDS_LEAK))
		first = 1;
	rounds->count = end - first;
	memcpy(rounds->ranges, &births->ranges[first], rounds->count * sizeof(rounds->ranges[0]));
	rounds_measure(rounds);
}

bool rounds_alike(const struct rounds *rounds)
{
	double least = INFINITY;
	double most = 0;

	for (uint32_t i = 0; i < rounds->count; i++) {
		least = fmin(least, rounds->ranges[i].bytes);
		most = fmax(most, rounds->ranges[i].bytes);
	}
	return most <= SIZE_SPREAD * least;
}

bool rounds_ended(const struct rounds *rounds)
{
	double silence;

	if (rounds->count == 0)
		return false;
	silence = (double)(rounds->cut - rounds->ranges[rounds->count - 1].hi);
	if (rounds->even)
		return silence > SILENCE_EVEN * rounds->mean_gap + 1;
	return silence >
	       fmax(SILENCE_MEAN * rounds->mean_gap, SILENCE_LARGEST * rounds->largest_gap) +
		       (double)rounds->width;
}

/*
 * Blocks of each round, outliers clipped; the largest is taken as a middle one, since
 * a jump on the way is no trend.  Exact rounds count as one each.
 */
static double weigh(const struct rounds *rounds, double *weights)
{
	double sorted[GPULEAK_BIRTHS];
	double middle;
	double sum = 0;
	uint32_t largest = 0;

	for (uint32_t i = 0; i < rounds->count; i++)
		sorted[i] = rounds->ranges[i].blocks;
	middle = quantile(sorted, rounds->count, 0.5);
	for (uint32_t i = 0; i < rounds->count; i++) {
		weights[i] = rounds->exact ? 1 : fmin(rounds->ranges[i].blocks, CLIP * middle);
		if (rounds->ranges[i].blocks > rounds->ranges[largest].blocks)
			largest = i;
	}
	if (!rounds->exact)
		weights[largest] = middle;
	for (uint32_t i = 0; i < rounds->count; i++)
		sum += weights[i];
	return sum;
}

/*
 * How much more neighbouring ranges differ than independent births would: variance
 * by mean, from the differences of neighbours, so that a trend doesn't enter.
 * Ranges between two rounds are empty.  Needs two rounds.
 */
static double dispersion(const struct rounds *rounds, const double *weights, double sum)
{
	const struct birth_range *ranges = rounds->ranges;
	uint32_t last = rounds->count - 1;
	double total = (double)(ranges[last].lo - ranges[0].lo) / (double)rounds->width + 1;
	double squares = 0;

	for (uint32_t i = 0; i < last; i++) {
		double difference = weights[i + 1] - weights[i];

		if (ranges[i + 1].lo - ranges[i].lo == rounds->width)
			squares += difference * difference;
		else
			squares += weights[i] * weights[i] + weights[i + 1] * weights[i + 1];
	}
	return fmax(1, squares / (2 * (total - 1)) / (sum / total));
}

struct trend rounds_trend(const struct rounds *rounds)
{
	struct trend trend = {.score = 0, .ratio = 1};
	double weights[GPULEAK_BIRTHS];
	double start, span, sum, evidence;
	double mean = 0;
	double late = 0;

	if (rounds->count < 2)
		return trend;
	start = (double)rounds->ranges[0].lo;
	span = (double)rounds->cut - start;
	sum = weigh(rounds, weights);
	if (span <= 0 || sum <= 0)
		return trend;
	for (uint32_t i = 0; i < rounds->count; i++) {
		const struct birth_range *range = &rounds->ranges[i];
		double x = ((double)(range->lo + range->hi) / 2 - start) / span;

		mean += weights[i] * x / sum;
		late += x >= 0.5 ? weights[i] : 0;
	}
	evidence = rounds->exact ? sum : sum / dispersion(rounds, weights, sum);
	trend.score = (mean - 0.5) * sqrt(12 * evidence);
	trend.ratio = sum > late ? late / (sum - late) : 1;
	return trend;
}

/* Bytes of each round, those of a jump within the site clipped. */
static void clip_bytes(const struct birth_range *ranges, uint32_t count, double *bytes)
{
	double sorted[GPULEAK_BIRTHS];
	uint32_t aside = count / 10 > 1 ? count / 10 : 1;
	double clip;

	for (uint32_t i = 0; i < count; i++)
		sorted[i] = ranges[i].bytes;
	sort(sorted, count);
	clip = RATE_CLIP * sorted[count > aside ? count - 1 - aside : 0];
	for (uint32_t i = 0; i < count; i++)
		bytes[i] = fmin(ranges[i].bytes, clip);
}

/* The next round comes when it always did. */
static bool gaps_are_equal(const struct birth_range *ranges, uint32_t count)
{
	int64_t gap = ranges[1].lo - ranges[0].lo;

	for (uint32_t i = 2; i < count; i++)
		if (ranges[i].lo - ranges[i - 1].lo != gap)
			return false;
	return true;
}

/*
 * From the end of the first range to the end of the last one the others were born:
 * right for each step, for a period and for any start.  A round more or less may have fallen
 * into that time, unless it is known when each comes.
 */
static struct rate measure_rate(const struct birth_range *ranges, uint32_t count, double round)
{
	double bytes[GPULEAK_BIRTHS];
	double steps = (double)(ranges[count - 1].hi - ranges[0].hi);
	double mean, squares = 0, sum = 0;

	clip_bytes(ranges, count, bytes);
	for (uint32_t i = 1; i < count; i++)
		sum += bytes[i];
	mean = sum / (count - 1);
	for (uint32_t i = 1; i < count; i++)
		squares += (bytes[i] - mean) * (bytes[i] - mean);
	return (struct rate){.bytes = sum / steps,
			     .spread = RATE_SIGMAS * sqrt(squares) / steps +
				       fmin(round, mean) / steps};
}

/* As in count_every_round(): of a turn begun before step 1, that step has none. */
struct round_size rounds_size(const struct births *births,
			      const struct gpuleak_site_version *version,
			      const struct gpuleak_evidence_version *evidence, int64_t now)
{
	bool baseline = version->first_step == 0;
	int64_t first = baseline ? 2 : version->first_step;
	int64_t rounds = (int64_t)version->rounds - baseline;
	double bytes = 0;

	if (release_count(evidence) > 0 || rounds <= 0)
		return (struct round_size){0};
	for (uint32_t i = 0; i < births->count; i++)
		bytes += births->ranges[i].hi ? births->ranges[i].bytes : 0;
	return (struct round_size){.known = true,
				   .each_step = rounds >= now - first + 1,
				   .bytes = bytes / (double)rounds};
}

/* Of the rounds of the run's second half, where those are enough. */
struct rate rounds_rate(const struct rounds *rounds, int64_t now, const struct round_size *size)
{
	double round = size->known ? size->bytes : INFINITY;
	const struct birth_range *ranges = rounds->ranges;
	uint32_t count = rounds->count;

	while (count > RATE_ENTRIES && ranges->lo < now / 2) {
		ranges++;
		count--;
	}
	if (count < 2)
		return (struct rate){.bytes = count ? ranges->bytes / (double)rounds->width : 0};
	if (size->each_step || (rounds->exact && gaps_are_equal(ranges, count)))
		round = 0;
	return measure_rate(ranges, count, round);
}
