/*
 * The pool: many call stacks that each keep memory once or twice, one after the
 * other throughout the run.  Each alone is a jump; together they are rounds.  Hooks
 * that deepen the stack and generated code look like this.
 */
#include "report/verdict_pool.h"

#include <math.h>
#include <string.h>

#include "report/verdict_constants.h"
#include "report/verdict_parts.h"

/*
 * Which stacks: those of one or two rounds, not of step 1, where the optimizer's state
 * and the gradients come from; and of some sizes.
 */
struct choice {
	uint32_t smallest; /* log2 of the bytes kept */
	uint32_t largest;
};

static uint32_t size_class(const struct verdict_site *site)
{
	return site->kept_bytes ? 63 - (uint32_t)__builtin_clzll(site->kept_bytes) : 0;
}

static bool may_join(const struct verdict_site *site, const struct choice *choice)
{
	uint32_t class = size_class(site);

	return site->label == VERDICT_JUMP && !site->suppressed && site->birth_count > 0 &&
	       site->birth_count <= 2 && site->births[0].first > 1 && class >= choice->smallest &&
	       class <= choice->largest;
}

/* The sizes around the middle one. */
static struct choice choose_sizes(const struct verdict_site *sites, size_t count)
{
	static const struct choice all = {.smallest = 0, .largest = 63};
	size_t classes[64] = {0};
	size_t members = 0, below = 0;

	for (size_t i = 0; i < count; i++) {
		if (!may_join(&sites[i], &all))
			continue;
		classes[size_class(&sites[i])]++;
		members++;
	}
	for (uint32_t i = 0; i < 64; i++) {
		below += classes[i];
		if (members && 2 * below >= members)
			return (struct choice){.smallest = i > POOL_CLASSES ? i - POOL_CLASSES : 0,
					       .largest = i + POOL_CLASSES};
	}
	return all;
}

/* The births of all such sites by time, POOL_BUCKETS of them over the run. */
struct tally {
	uint32_t sites;
	int64_t width;
	double blocks[POOL_BUCKETS];
	double bytes[POOL_BUCKETS];
};

static void tally_add(struct tally *tally, const struct verdict_site *site)
{
	tally->sites++;
	for (uint32_t i = 0; i < site->birth_count; i++) {
		int64_t bucket = site->births[i].first / tally->width;

		if (bucket >= POOL_BUCKETS)
			bucket = POOL_BUCKETS - 1;
		tally->blocks[bucket] += site->births[i].blocks;
		tally->bytes[bucket] += (double)site->births[i].bytes;
	}
}

static void rounds_from_tally(struct rounds *rounds, const struct tally *tally, int64_t now)
{
	memset(rounds, 0, sizeof(*rounds));
	rounds->width = tally->width;
	rounds->cut = now - 1;
	for (int64_t i = 0; i < POOL_BUCKETS; i++) {
		int64_t lo = i * tally->width;

		if (tally->blocks[i] == 0 || lo > rounds->cut)
			continue;
		rounds->ranges[rounds->count++] = (struct birth_range){.lo = lo,
								       .hi = lo + tally->width - 1,
								       .blocks = tally->blocks[i],
								       .bytes = tally->bytes[i]};
	}
	rounds_measure(rounds);
}

/* Occupied throughout, from the first of them up to now, and not ever less. */
static bool is_leak(const struct rounds *rounds)
{
	struct trend trend = rounds_trend(rounds);
	double span;

	if (rounds->count < POOL_OCCUPIED || rounds_ended(rounds))
		return false;
	span = (double)(rounds->cut - rounds->ranges[0].lo) / (double)rounds->width + 1;
	return rounds->count >= POOL_SPAN * floor(span) &&
	       !(trend.score < LAPLACE && trend.ratio < RATIO_SLOWING);
}

static void describe(struct verdict_site *pool, const struct tally *tally,
		     const struct rounds *rounds, int64_t now)
{
	struct rate rate = rounds_rate(rounds, now);
	double bytes = 0, blocks = 0;

	for (uint32_t i = 0; i < rounds->count; i++) {
		bytes += rounds->ranges[i].bytes;
		blocks += rounds->ranges[i].blocks;
	}
	*pool = (struct verdict_site){
		.label = VERDICT_LEAK,
		.reason = VERDICT_REASON_POOL,
		.bound_unknown = true,
		.rounds = {.kept = rounds->count,
			   .of = (uint32_t)((rounds->cut - rounds->ranges[0].lo) / rounds->width +
					    1),
			   .width = (uint32_t)rounds->width},
		.first_step = (uint32_t)rounds->ranges[0].lo,
		.last_step = (uint32_t)rounds->cut,
		.blocks = blocks < UINT32_MAX ? (uint32_t)blocks : UINT32_MAX,
		.bytes = bytes < 0x1p63 ? (uint64_t)bytes : UINT64_MAX,
		.bytes_per_step = rate.bytes,
		.bytes_per_step_spread = rate.spread,
		.confidence =
			fmin((rounds->count + 1.0) / (rounds->count + 2.0), CONFIDENCE_UNBOUND),
		.late_ratio = 1,
		.swell_factor = 1,
		.demand_factor = 1,
		.parts = tally->sites,
		.now = (uint32_t)now,
	};
	pool->kept_bytes = pool->bytes;
	pool->kept_blocks = pool->blocks;
}

static bool pool_leaks(struct verdict_site *pool, struct verdict_site *sites, size_t count,
		       int64_t now, const struct choice *choice)
{
	struct tally tally = {.width = now / POOL_BUCKETS + 1};
	struct rounds rounds;

	for (size_t i = 0; i < count; i++)
		if (may_join(&sites[i], choice))
			tally_add(&tally, &sites[i]);
	if (tally.sites < POOL_SITES)
		return false;
	rounds_from_tally(&rounds, &tally, now);
	if (!is_leak(&rounds))
		return false;
	for (size_t i = 0; i < count; i++)
		sites[i].pooled = may_join(&sites[i], choice);
	describe(pool, &tally, &rounds, now);
	return true;
}

/* Those of like size, so that a jump among them isn't named; or else all. */
bool verdict_pool(struct verdict_site *pool, struct verdict_site *sites, size_t count, int64_t now)
{
	struct choice alike = choose_sizes(sites, count);
	struct choice all = {.smallest = 0, .largest = 63};

	return pool_leaks(pool, sites, count, now, &alike) ||
	       pool_leaks(pool, sites, count, now, &all);
}
