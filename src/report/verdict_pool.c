/*
 * The pool: many call stacks that each keep memory once or twice, one after the
 * other throughout the run.  Each alone is a jump; together they are rounds.  Hooks
 * that deepen the stack and generated code look like this.
 */
#include "report/verdict_pool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/verdict_constants.h"
#include "report/verdict_parts.h"

/*
 * A stack that may belong: it kept memory in one or two rounds, not in step 1, where
 * the optimizer's state and the gradients come from.
 */
static bool may_join(const struct verdict_site *site)
{
	return site->label == VERDICT_JUMP && !site->suppressed && site->birth_count > 0 &&
	       site->birth_count <= 2 && site->births[0].first > 1;
}

enum {
	CLASSES = 256
};

/* Four times log2, roughly: the two bits after the highest one tell the quarter. */
static uint32_t class_of(uint64_t kept)
{
	uint32_t bits;

	if (kept < 4)
		return (uint32_t)kept;
	bits = 63 - (uint32_t)__builtin_clzll(kept);
	return 4 * bits + (uint32_t)(kept >> (bits - 2) & 3);
}

/* Those that look like the middle one, and were born late enough. */
struct choice {
	bool all;	 /* whatever they look like */
	uint32_t bytes;	 /* class of the middle one, or POOL_CLASSES beside it */
	uint32_t blocks; /* class of the middle one */
	int64_t since;	 /* first step */
};

static bool is_chosen(const struct choice *choice, const struct verdict_site *site)
{
	if (!may_join(site) || site->births[0].first < choice->since)
		return false;
	return choice->all ||
	       (abs((int)class_of(site->kept_bytes) - (int)choice->bytes) <= POOL_CLASSES &&
		class_of(site->kept_blocks) == choice->blocks);
}

static uint32_t middle_of(const size_t *classes, size_t members)
{
	size_t below = 0;
	uint32_t i = 0;

	for (; i < CLASSES - 1; i++) {
		below += classes[i];
		if (2 * below >= members)
			break;
	}
	return i;
}

static struct choice choose(const struct verdict_site *sites, size_t count)
{
	struct choice choice = {0};
	size_t bytes[CLASSES] = {0}, blocks[CLASSES] = {0};
	size_t members = 0;

	for (size_t i = 0; i < count; i++) {
		if (!may_join(&sites[i]))
			continue;
		bytes[class_of(sites[i].kept_bytes)]++;
		blocks[class_of(sites[i].kept_blocks)]++;
		members++;
	}
	choice.bytes = middle_of(bytes, members);
	choice.blocks = middle_of(blocks, members);
	return choice;
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
	       !(trend.score < LAPLACE_CACHE && trend.ratio < RATIO_SLOWING);
}

/* Leaves out early ones that the others don't go on from. */
static bool find_leak(struct rounds *rounds)
{
	while (rounds->count >= POOL_OCCUPIED) {
		if (is_leak(rounds))
			return true;
		rounds->count--;
		memmove(rounds->ranges, rounds->ranges + 1,
			rounds->count * sizeof(rounds->ranges[0]));
		rounds_measure(rounds);
	}
	return false;
}

static void describe(struct verdict_site *pool, const struct tally *tally,
		     const struct rounds *rounds, int64_t now)
{
	struct rate rate = rounds_rate(rounds, now, &(struct round_size){0});
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

static uint32_t mark_members(struct verdict_site *sites, size_t count, const struct choice *choice)
{
	uint32_t members = 0;

	for (size_t i = 0; i < count; i++) {
		sites[i].pooled = is_chosen(choice, &sites[i]);
		members += sites[i].pooled;
	}
	return members;
}

static bool pool_leaks(struct verdict_site *pool, struct verdict_site *sites, size_t count,
		       int64_t now, struct choice choice)
{
	struct tally tally = {.width = now / POOL_BUCKETS + 1};
	struct rounds rounds;

	for (size_t i = 0; i < count; i++)
		if (is_chosen(&choice, &sites[i]))
			tally_add(&tally, &sites[i]);
	rounds_from_tally(&rounds, &tally, now);
	if (tally.sites < POOL_SITES || !find_leak(&rounds))
		return false;
	choice.since = rounds.ranges[0].lo;
	tally.sites = mark_members(sites, count, &choice);
	describe(pool, &tally, &rounds, now);
	return true;
}

/* Those that look alike, so that a jump among them isn't named; or else all. */
bool verdict_pool(struct verdict_site *pool, struct verdict_site *sites, size_t count, int64_t now)
{
	struct choice all = {.all = true};

	return pool_leaks(pool, sites, count, now, choose(sites, count)) ||
	       pool_leaks(pool, sites, count, now, all);
}
