/*
 * The verdict on one site, in the order of docs/how-verdicts-work.md: rounds that
 * stay, still coming, not matched by deaths, enough of them, not fading.
 */
#include "report/verdict.h"

#include <math.h>
#include <string.h>

#include "report/verdict_constants.h"
#include "report/verdict_parts.h"

/* What the rules look at. */
struct facts {
	const struct verdict_site_input *input;
	const struct gpuleak_site_version *version;
	const struct gpuleak_evidence_version *evidence;
	const struct verdict_timeline *timeline; /* NULL: unknown */
	int64_t now;
	struct births births;
	struct release release;
	struct rounds rounds;
	struct levels levels;
};

static void decide(struct verdict_site *site, enum verdict label, enum verdict_reason reason)
{
	site->label = label;
	site->reason = reason;
}

static void facts_read(struct facts *facts, const struct verdict_site_input *input, int64_t now)
{
	int64_t max_age = input->version->max_age;

	facts->input = input;
	facts->version = input->version;
	facts->evidence = input->evidence;
	facts->timeline = input->timeline;
	facts->now = now;
	births_read(&facts->births, input->evidence, now);
	facts->release =
		release_read(input->evidence, &facts->births, now, max_age < now ? max_age : now);
	if (input->line_release > facts->release.age)
		facts->release = (struct release){.known = true, .age = input->line_release};
	rounds_select(&facts->rounds, &facts->births,
		      now - OVERDUE_FACTOR * facts->release.age - 1);
	levels_read(&facts->levels, input->evidence, input->version, now);
}

/* The oldest survivor that isn't of the baseline. */
static int64_t oldest_birth(const struct facts *facts)
{
	const struct births *births = &facts->births;
	uint32_t first = births->width == 1 && births->count && births->ranges[0].lo == 0;

	if (first == births->count)
		return facts->now;
	return births->ranges[first].lo ? births->ranges[first].lo : 1;
}

/* The levels after the first quarter, when the warm-up is over. */
static struct gpuleak_level settled_range(const struct levels *levels)
{
	return levels_range(levels, levels->count / 4);
}

static void describe_levels(struct verdict_site *site, const struct facts *facts)
{
	struct gpuleak_level range = settled_range(&facts->levels);

	site->lowest = range.min_bytes;
	site->highest = range.max_bytes;
	site->swing = range.max_bytes > range.min_bytes ? range.max_bytes - range.min_bytes : 0;
}

/* Nothing of such a site was ever given back, so each round it left is still there. */
static bool every_round_known(const struct facts *facts)
{
	return facts->version->frees == 0 && facts->version->rounds > 0;
}

/*
 * Births of step 0 are among the rounds but don't count.  A turn of the loop that was
 * begun before the first optimizer step leaves its survivors there and none in step 1.
 */
static void count_every_round(struct verdict_site *site, const struct facts *facts)
{
	const struct gpuleak_site_version *version = facts->version;
	bool baseline = version->first_step == 0;
	int64_t first = baseline ? site->first_step : version->first_step;
	int64_t last = version->last_step < facts->now ? version->last_step : facts->now;
	int64_t kept = (int64_t)version->rounds - baseline;
	int64_t of;

	if (last < first)
		last = first;
	if (baseline && kept == last - first)
		first++;
	of = last - first + 1;
	site->rounds.width = 1;
	site->rounds.of = step_of(of);
	site->rounds.kept = step_of(kept < of ? kept : of);
	site->first_step = step_of(first);
	site->last_step = step_of(last);
	if (!baseline && kept > 1 && (last - first) % (kept - 1) == 0)
		site->period_steps = step_of((last - first) / (kept - 1));
}

static void describe_rounds(struct verdict_site *site, const struct facts *facts)
{
	const struct rounds *rounds = &facts->rounds;
	const struct births *births = &facts->births;
	int64_t first, last;
	double blocks = 0, bytes = 0;

	if (rounds->count == 0)
		return;
	first = rounds->ranges[0].lo;
	last = births->ranges[births->count - 1].hi;
	for (uint32_t i = 0; i < rounds->count; i++) {
		blocks += rounds->ranges[i].blocks;
		bytes += rounds->ranges[i].bytes;
	}
	site->kept_blocks = u32_of(blocks);
	site->kept_bytes = u64_of(bytes);
	site->rounds.kept = rounds->count;
	site->rounds.width = step_of(rounds->width);
	site->rounds.of = step_of((rounds->cut + 1 - first) / rounds->width);
	site->first_step = step_of(first ? first : 1);
	site->last_step = step_of(last < facts->now ? last : facts->now);
	if (rounds->even && rounds->mean_gap >= 2)
		site->period_steps = step_of((int64_t)(rounds->mean_gap + 0.5));
	if (every_round_known(facts))
		count_every_round(site, facts);
	if (site->period_steps == 1)
		site->period_steps = 0;
}

static void describe(struct verdict_site *site, const struct facts *facts)
{
	site->release_known = facts->release.known;
	site->release_age = step_of(facts->release.age);
	site->overdue_age = step_of(facts->now - facts->rounds.cut);
	site->oldest_age = step_of(facts->now - oldest_birth(facts));
	if (site->oldest_age < site->max_age)
		site->oldest_age = site->max_age;
	describe_levels(site, facts);
	describe_rounds(site, facts);
}

/*
 * Coarse ranges cut periods anywhere; where each round is known, the mean of their gaps
 * tells: two marks in five may be a period.
 */
static void set_rate(struct verdict_site *site, const struct facts *facts)
{
	struct round_size round =
		rounds_size(&facts->births, facts->version, facts->evidence, facts->now);
	struct rate rate = rounds_rate(&facts->rounds, facts->now, &round);

	site->round_bytes =
		round.known ? round.bytes : (double)site->kept_bytes / site->rounds.kept;
	site->bytes_per_step = rate.bytes;
	site->bytes_per_step_spread = rate.spread;
	if (every_round_known(facts) && facts->version->first_step > 0 && site->period_steps > 0 &&
	    site->rounds.kept > 1) {
		double gap = ((double)site->last_step - site->first_step) / (site->rounds.kept - 1);
		double exact = (double)site->bytes / site->rounds.kept / gap;

		if (fabs(exact - rate.bytes) <= rate.spread)
			site->bytes_per_step = exact;
	}
}

/* The rule of succession: the chance that the next round leaves survivors too. */
static double succession(const struct verdict_site *site)
{
	double kept = site->rounds.kept;

	return (kept + 1) / (kept + 2);
}

static void decide_leak(struct verdict_site *site, const struct facts *facts,
			enum verdict_reason reason)
{
	decide(site, VERDICT_LEAK, reason);
	site->bound_unknown = !facts->release.known || reason == VERDICT_REASON_SWELLING;
	site->confidence =
		fmin(succession(site), site->bound_unknown ? CONFIDENCE_UNBOUND : CONFIDENCE_BOUND);
}

static void decide_growing(struct verdict_site *site, const struct facts *facts,
			   enum verdict_reason reason, double steps_missing)
{
	decide(site, VERDICT_GROWING, reason);
	site->bound_unknown = !facts->release.known;
	site->confidence = CONFIDENCE_GROWING * succession(site);
	site->steps_missing = u32_of(ceil(steps_missing));
	set_rate(site, facts);
}

/* Growth of the live bytes beyond what the inputs of the steps explain. */
static void decide_swelling(struct verdict_site *site, const struct facts *facts,
			    const struct swell *swell)
{
	const struct verdict_timeline *timeline = facts->timeline;
	double demand = timeline ? swell_demand(swell, timeline) : 1;
	bool company = swell_in_company(site, swell, facts->input);

	site->swell_factor = swell->factor;
	site->demand_factor = demand;
	site->swell_bytes = swell->bytes;
	site->swell_steps = step_of(swell->steps);
	if (timeline && timeline->floor_growth < SWELL_FLOOR * (swell->late - swell->early)) {
		decide(site, VERDICT_WORKLOAD, VERDICT_REASON_TRADED);
		return;
	}
	if (!company && (!timeline || swell_is_flat(swell, timeline) ||
			 swell_is_pure(swell, &facts->levels, facts->version, timeline, demand))) {
		decide_leak(site, facts, VERDICT_REASON_SWELLING);
		site->confidence = CONFIDENCE_UNBOUND;
	} else if (demand >= DEMAND_GROWTH) {
		decide(site, VERDICT_WORKLOAD, VERDICT_REASON_DEMAND);
		return;
	} else if (company) {
		decide(site, VERDICT_WORKLOAD, VERDICT_REASON_COMPANY);
		return;
	} else {
		decide_growing(site, facts, VERDICT_REASON_SWELLING, 0);
	}
	site->bytes_per_step = (double)swell->bytes / (double)swell->steps;
	site->bytes_per_step_spread = site->bytes_per_step / facts->levels.count;
}

/* All that is alive is of one round or two, the baseline left out. */
static bool lives_are_short(const struct births *births)
{
	uint32_t baseline = births->count && births->ranges[0].lo == 0;

	return births->count - baseline <= SWELL_ROUNDS_ALIVE;
}

static bool try_swelling(struct verdict_site *site, const struct facts *facts)
{
	struct swell swell = {0};

	if (facts->version->frees > 0 && lives_are_short(&facts->births))
		swell = swell_read(&facts->levels);
	if (swell.found)
		decide_swelling(site, facts, &swell);
	return swell.found;
}

/* Each block goes, ever later: no survivor is old, yet there are ever more. */
static bool try_backlog(struct verdict_site *site, const struct facts *facts)
{
	double deaths = release_count(facts->evidence);
	struct swell backlog = {0};

	/* Of a queue that was full a moment ago hardly any block has gone yet. */
	if (!lives_are_short(&facts->births) &&
	    deaths >= BACKLOG_GONE * (deaths + facts->version->live_blocks))
		backlog = backlog_read(&facts->levels);
	if (!backlog.found)
		return false;
	decide_growing(site, facts, VERDICT_REASON_BACKLOG, 0);
	site->swell_factor = backlog.factor;
	site->swell_bytes = backlog.bytes;
	site->swell_steps = step_of(backlog.steps);
	site->bytes_per_step = (double)backlog.bytes / (double)backlog.steps;
	site->bytes_per_step_spread = site->bytes_per_step / facts->levels.count;
	return true;
}

static bool filled_then_flat(const struct facts *facts)
{
	return levels_filled(&facts->levels, facts->version->live_bytes) &&
	       release_middle(facts->evidence) >= SAWTOOTH_AGE;
}

static bool baseline_only(const struct facts *facts)
{
	const struct births *births = &facts->births;

	return births->count > 0 && births->ranges[births->count - 1].lo == 0 && births->width == 1;
}

/* No survivor is older than the site normally keeps a block. */
static void judge_bounded(struct verdict_site *site, const struct facts *facts)
{
	struct gpuleak_level range = settled_range(&facts->levels);
	bool varies = (double)site->swing > NOISY_SWING * (double)range.max_bytes;
	bool swings = (double)range.max_blocks - range.min_blocks >= SAWTOOTH_SWING &&
		      release_middle(facts->evidence) >= SAWTOOTH_AGE;

	if (try_swelling(site, facts) || try_backlog(site, facts))
		return;
	if (filled_then_flat(facts) || (swings && levels_never_fell(&facts->levels))) {
		decide(site, VERDICT_PLATEAU, VERDICT_REASON_REPLACED);
		site->since = step_of(levels_filled_since(&facts->levels));
	} else if (swings) {
		decide(site, VERDICT_SAWTOOTH, VERDICT_REASON_RELEASED);
	} else if (varies) {
		decide(site, VERDICT_NOISY, VERDICT_REASON_VARIES);
	} else if (baseline_only(facts)) {
		decide(site, VERDICT_STABLE, VERDICT_REASON_BASELINE);
	} else {
		decide(site, VERDICT_STABLE,
		       facts->births.count ? VERDICT_REASON_FLAT : VERDICT_REASON_NOTHING_KEPT);
	}
}

static void list_births(struct verdict_site *site, const struct rounds *rounds)
{
	for (uint32_t i = 0; i < rounds->count && i < VERDICT_BIRTHS; i++) {
		const struct birth_range *range = &rounds->ranges[i];

		site->births[site->birth_count++] =
			(struct verdict_birth){.first = step_of(range->lo ? range->lo : 1),
					       .last = step_of(range->hi),
					       .blocks = u32_of(range->blocks),
					       .bytes = u64_of(range->bytes)};
	}
}

static void decide_jump(struct verdict_site *site, const struct facts *facts)
{
	decide(site, VERDICT_JUMP,
	       facts->rounds.count == 1 ? VERDICT_REASON_ONCE : VERDICT_REASON_SEVERAL);
	list_births(site, &facts->rounds);
}

/* The only round took the place of what was there before: no more blocks than then. */
static bool is_renewed(const struct facts *facts)
{
	const struct levels *levels = &facts->levels;
	int64_t bucket = facts->rounds.ranges[0].lo / levels->width;

	return facts->rounds.count == 1 && bucket > 0 && facts->version->max_age >= SAWTOOTH_AGE &&
	       levels->buckets[bucket - 1].min_blocks >= facts->version->live_blocks;
}

static void decide_stopped(struct verdict_site *site, const struct facts *facts)
{
	const struct birth_range *last = &facts->rounds.ranges[facts->rounds.count - 1];

	decide(site, VERDICT_PLATEAU, VERDICT_REASON_STOPPED);
	site->since = every_round_known(facts) ? site->last_step : step_of(last->hi);
}

/* Some births early in the run, and none since: a cache that has met all its keys. */
static bool filled_early(const struct facts *facts)
{
	const struct births *births = &facts->births;

	return facts->rounds.count >= ROUNDS_FILLED &&
	       (double)births->ranges[births->count - 1].hi <= FILLED_EARLY * (double)facts->now;
}

/* Fewer rounds than a leak needs. */
static void judge_few(struct verdict_site *site, const struct facts *facts)
{
	const struct rounds *rounds = &facts->rounds;

	if (try_swelling(site, facts))
		return;
	if (rounds->count >= ROUNDS_GROWING && rounds->even && rounds_alike(rounds) &&
	    !rounds_ended(rounds))
		decide_growing(site, facts, VERDICT_REASON_EVEN,
			       (ROUNDS_LEAK - rounds->count) * rounds->mean_gap);
	else if (filled_early(facts))
		decide_stopped(site, facts);
	else
		decide_jump(site, facts);
	if (site->reason == VERDICT_REASON_ONCE && is_renewed(facts))
		decide(site, VERDICT_PLATEAU, VERDICT_REASON_RENEWED);
}

/* Births that stay have stopped coming: a list of jumps, or something that filled. */
static void judge_ended(struct verdict_site *site, const struct facts *facts)
{
	const struct rounds *rounds = &facts->rounds;

	decide_stopped(site, facts);
	if (rounds->exact && rounds->count <= ROUNDS_SPARSE && rounds->mean_gap > 1 &&
	    !filled_early(facts))
		decide_jump(site, facts);
}

/* Steps that a leak must have been going on in a run of `now` steps. */
static double span_needed(int64_t now)
{
	return fmax(SPAN_MIN, fmin(SPAN_MAX, (double)now / SPAN_SHARE));
}

/*
 * Rounds that a leak must have left.  Uneven ones may be a cache that is asked for ever
 * fewer new things: a few of them prove nothing unless they come no slower.
 */
static uint32_t rounds_wanted(const struct facts *facts, const struct trend *trend)
{
	if (!facts->rounds.exact || facts->rounds.even)
		return ROUNDS_LEAK;
	if (facts->release.known || trend->score >= LAPLACE_FEW)
		return ROUNDS_IRREGULAR;
	return ROUNDS_MANY;
}

/* Rounds enough, and still coming. */
static void judge_many(struct verdict_site *site, const struct facts *facts)
{
	const struct rounds *rounds = &facts->rounds;
	struct trend trend = rounds_trend(rounds);
	double span = (double)(rounds->cut - rounds->ranges[0].lo);
	double missing = span_needed(facts->now) - span;
	uint32_t wanted = rounds_wanted(facts, &trend);
	bool maybe_cache = rounds->exact && !facts->release.known;
	double slow = maybe_cache ? LAPLACE_CACHE : LAPLACE;

	if (trend.score < slow && trend.ratio < RATIO_SLOWING) {
		site->late_ratio = trend.ratio;
		site->since = step_of(rounds->ranges[0].lo + (int64_t)(span / 2));
		if (trend.ratio < RATIO_FADED)
			decide(site, VERDICT_PLATEAU, VERDICT_REASON_FADED);
		else
			decide_growing(site, facts, VERDICT_REASON_SLOWING, 0);
	} else if (rounds->count < wanted) {
		decide_growing(site, facts, VERDICT_REASON_IRREGULAR,
			       (wanted - rounds->count) * rounds->mean_gap);
	} else if (missing > 0) {
		decide_growing(site, facts, VERDICT_REASON_YOUNG, missing);
	} else {
		decide_leak(site, facts, VERDICT_REASON_ROUNDS);
		set_rate(site, facts);
	}
}

static void judge(struct verdict_site *site, const struct facts *facts)
{
	const struct rounds *rounds = &facts->rounds;
	int64_t since;

	if (rounds->count && facts->input->joined) {
		decide_jump(site, facts);
	} else if (rounds->count == 0 && facts->input->line_release) {
		decide(site, VERDICT_SAWTOOTH, VERDICT_REASON_RELEASED);
	} else if (rounds->count == 0) {
		judge_bounded(site, facts);
	} else if (levels_replaced(&facts->levels, &facts->births, rounds->cut, &since)) {
		decide(site, VERDICT_PLATEAU, VERDICT_REASON_REPLACED);
		site->since = step_of(since);
	} else if (rounds->count < ROUNDS_LEAK) {
		judge_few(site, facts);
	} else if (rounds_ended(rounds)) {
		judge_ended(site, facts);
	} else {
		judge_many(site, facts);
	}
}

void verdict_site(struct verdict_site *site, const struct verdict_site_input *input)
{
	const struct gpuleak_site_version *version = input->version;
	int64_t now = input->now < (uint64_t)STEP_MAX ? (int64_t)input->now : STEP_MAX;
	struct gpuleak_level range;
	struct facts facts;

	*site = (struct verdict_site){.label = VERDICT_STABLE,
				      .reason = VERDICT_REASON_NOTHING_KEPT,
				      .first_step = version->first_step,
				      .last_step = version->last_step,
				      .blocks = version->live_blocks,
				      .bytes = version->live_bytes,
				      .max_age = version->max_age,
				      .frees = version->frees,
				      .late_ratio = 1,
				      .swell_factor = 1,
				      .demand_factor = 1,
				      .parts = 1,
				      .now = step_of(now)};
	if (!input->evidence)
		return;
	facts_read(&facts, input, now);
	describe(site, &facts);
	judge(site, &facts);
	range = settled_range(&facts.levels);
	teeth_read(site, input, &range);
}
