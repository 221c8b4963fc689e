/*
 * The pool: many call stacks that each keep memory once or twice, one after the
 * other throughout the run.  Each alone is a jump; together they are rounds.  Hooks
 * that deepen the stack and generated code look like this.
 *
 * The relay: one line that leaks from one call stack after the other, from each for a
 * while, as where each epoch wraps a function once more.  Each stack alone has stopped;
 * the line goes on.
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

static void describe(struct verdict_site *pool, enum verdict_reason reason,
		     const struct tally *tally, const struct rounds *rounds, int64_t now)
{
	struct rate rate = rounds_rate(rounds, now, &(struct round_size){0});
	double bytes = 0, blocks = 0;

	for (uint32_t i = 0; i < rounds->count; i++) {
		bytes += rounds->ranges[i].bytes;
		blocks += rounds->ranges[i].blocks;
	}
	*pool = (struct verdict_site){
		.label = VERDICT_LEAK,
		.reason = reason,
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
	describe(pool, VERDICT_REASON_POOL, &tally, &rounds, now);
	return true;
}

/* It kept memory for a short part of the run, whatever it looks like alone. */
static bool may_relay(const struct verdict_site *site, int64_t now)
{
	switch (site->reason) {
	case VERDICT_REASON_ONCE:
	case VERDICT_REASON_SEVERAL:
	case VERDICT_REASON_STOPPED:
	case VERDICT_REASON_EVEN:
	case VERDICT_REASON_IRREGULAR:
	case VERDICT_REASON_YOUNG:
	case VERDICT_REASON_ROUNDS:
		return !site->suppressed && site->kept_blocks &&
		       site->last_step >= site->first_step &&
		       site->last_step - site->first_step < now / RELAY_STRETCH;
	default:
		return false;
	}
}

/* What it kept, evenly over the time in which it did. */
static void tally_spread(struct tally *tally, const struct verdict_site *site)
{
	int64_t first = site->first_step / tally->width;
	int64_t last = site->last_step / tally->width;
	double share;

	tally->sites++;
	last = last < POOL_BUCKETS ? last : POOL_BUCKETS - 1;
	first = first < last ? first : last;
	share = 1 / (double)(last - first + 1);
	for (int64_t i = first; i <= last; i++) {
		tally->blocks[i] += share * site->kept_blocks;
		tally->bytes[i] += share * (double)site->kept_bytes;
	}
}

/* The next site of the line, or `count`. */
static size_t next_on_line(const struct verdict_site *sites, size_t count, size_t i)
{
	return sites[i].line_next > i + 1 && sites[i].line_next <= count ? sites[i].line_next - 1
									 : count;
}

/* Sites whose middle lies within the other one's time kept memory in the same turn. */
static bool same_turn(const struct birth_range *a, const struct birth_range *b)
{
	int64_t middle_a = (a->lo + a->hi) / 2;
	int64_t middle_b = (b->lo + b->hi) / 2;

	return (middle_a >= b->lo && middle_a <= b->hi) || (middle_b >= a->lo && middle_b <= a->hi);
}

/* Ascending.  False when there is no room. */
static bool add_turn(struct rounds *turns, const struct verdict_site *site)
{
	struct birth_range turn = {.lo = site->first_step,
				   .hi = site->last_step,
				   .blocks = site->kept_blocks,
				   .bytes = (double)site->kept_bytes};
	uint32_t at = turns->count;

	while (at && turns->ranges[at - 1].lo > turn.lo)
		at--;
	if (at && same_turn(&turns->ranges[at - 1], &turn))
		at--;
	if (at < turns->count && same_turn(&turns->ranges[at], &turn)) {
		turns->ranges[at].blocks += turn.blocks;
		turns->ranges[at].bytes += turn.bytes;
		return true;
	}
	if (turns->count == GPULEAK_BIRTHS)
		return false;
	memmove(&turns->ranges[at + 1], &turns->ranges[at],
		(turns->count - at) * sizeof(turns->ranges[0]));
	turns->ranges[at] = turn;
	turns->count++;
	return true;
}

/* Judged like one site whose rounds are its stacks' turns. */
static bool turns_leak(struct rounds *turns, int64_t now)
{
	struct trend trend;
	int64_t span;

	rounds_measure(turns);
	if (turns->count < (turns->even ? ROUNDS_LEAK : ROUNDS_IRREGULAR) || rounds_ended(turns))
		return false;
	trend = rounds_trend(turns);
	span = turns->cut - turns->ranges[0].lo;
	return span >= SPAN_MIN && span >= now / SPAN_SHARE &&
	       !(trend.score < LAPLACE_CACHE && trend.ratio < RATIO_SLOWING);
}

/* From the end of the first turn to the end of the last one the others came. */
static double turns_rate(const struct rounds *turns)
{
	double bytes = 0;

	for (uint32_t i = 1; i < turns->count; i++)
		bytes += turns->ranges[i].bytes;
	return bytes / fmax(1, (double)(turns->ranges[turns->count - 1].hi - turns->ranges[0].hi));
}

/* Bytes a step that the line leaks; 0: it doesn't.  Of more turns than there is room for, too. */
static double line_leaks(const struct verdict_site *sites, size_t count, size_t first, int64_t now)
{
	struct rounds turns = {.width = 1, .exact = true, .cut = now - 1};
	struct tally tally = {.width = now / POOL_BUCKETS + 1};
	struct rounds rounds;
	bool room = true;

	for (size_t i = first; i < count; i = next_on_line(sites, count, i)) {
		if (!may_relay(&sites[i], now))
			continue;
		tally_spread(&tally, &sites[i]);
		room = room && add_turn(&turns, &sites[i]);
	}
	if (room)
		return turns_leak(&turns, now) ? turns_rate(&turns) : 0;
	rounds_from_tally(&rounds, &tally, now);
	return is_leak(&rounds) ? rounds_rate(&rounds, now, &(struct round_size){0}).bytes : 0;
}

static bool relay_leaks(struct verdict_site *pool, struct verdict_site *sites, size_t count,
			int64_t now)
{
	struct tally tally = {.width = now / POOL_BUCKETS + 1};
	struct rounds rounds;
	double rate = 0;

	for (size_t first = 0; first < count; first++) {
		double of_line =
			sites[first].line_begins ? line_leaks(sites, count, first, now) : 0;

		rate += of_line;
		for (size_t i = first; of_line > 0 && i < count;
		     i = next_on_line(sites, count, i)) {
			sites[i].pooled = may_relay(&sites[i], now);
			if (sites[i].pooled)
				tally_spread(&tally, &sites[i]);
		}
	}
	if (!tally.sites)
		return false;
	rounds_from_tally(&rounds, &tally, now);
	describe(pool, VERDICT_REASON_RELAY, &tally, &rounds, now);
	pool->bytes_per_step = rate;
	return true;
}

/* Those that look alike, so that a jump among them isn't named; or else all; or a line's. */
bool verdict_pool(struct verdict_site *pool, struct verdict_site *sites, size_t count, int64_t now)
{
	struct choice all = {.all = true};

	return pool_leaks(pool, sites, count, now, choose(sites, count)) ||
	       pool_leaks(pool, sites, count, now, all) || relay_leaks(pool, sites, count, now);
}
