/* Patterns that are no leaks: they happen once, fill, come and go, or vary. */
#include <math.h>

#include "habit.h"
#include "odd.h"
#include "parts.h"

#define BIT(label) (1u << VERDICT_##label)

static uint32_t site(struct world *world)
{
	return world_site(world, false);
}

/* A share of the steps, at least `least`. */
static uint32_t share(struct world *world, double low, double high, uint32_t least)
{
	double steps = chance_log(world, fmax(low * world->steps, least), high * world->steps);

	return (uint32_t)fmax(steps, least);
}

static void once(struct world *world, uint32_t where, uint32_t step, double count)
{
	habit_add(world, &(struct habit){.site = where,
					 .start = step,
					 .stop = step + 1,
					 .count = count,
					 .bytes = large_size(world),
					 .life = LIFE_EVER});
}

static void claim_jump(struct world *world)
{
	world_claim(world, VERDICT_JUMP, BIT(GROWING));
}

static void add_optimizer_state(struct world *world)
{
	claim_jump(world);
	once(world, site(world), 1, chance_between(world, 2, 60));
}

static void add_late_optimizer(struct world *world)
{
	claim_jump(world);
	once(world, site(world), chance_between(world, 2, world->steps - 3), 20);
}

static void add_unfreeze(struct world *world)
{
	uint32_t step = chance_between(world, 2, world->steps - 4);

	claim_jump(world);
	once(world, site(world), step, chance_between(world, 1, 20));
	once(world, site(world), step + 1, chance_between(world, 1, 40));
}

static void add_second_optimizer(struct world *world)
{
	claim_jump(world);
	once(world, site(world), 1, 10);
	once(world, site(world), chance_between(world, 2, world->steps - 3), 10);
}

/* The first evaluation makes helpers that stay; each later one uses them. */
static void add_first_evaluation(struct world *world)
{
	uint32_t every = share(world, 0.03, 0.3, 2);

	claim_jump(world);
	once(world, site(world), every, chance_between(world, 1, 8));
	habit_add(world, &(struct habit){.site = site(world),
					 .start = every,
					 .every = every,
					 .count = 8,
					 .bytes = any_size(world),
					 .life = LIFE_STEP});
}

static void add_several_jumps(struct world *world)
{
	uint32_t where = site(world);

	claim_jump(world);
	for (uint32_t i = chance_between(world, 2, 5); i > 0; i--)
		once(world, where, chance_between(world, 1, world->steps - 3), 2);
}

static void add_lazy_modules(struct world *world)
{
	claim_jump(world);
	world_claim(world, VERDICT_JUMP, BIT(PLATEAU));
	for (uint32_t i = chance_between(world, 2, 12); i > 0; i--)
		once(world, site(world), chance_between(world, 1, 8), chance_between(world, 1, 4));
}

static void add_small_jump(struct world *world)
{
	habit_add(world, &(struct habit){.site = site(world),
					 .start = 3,
					 .stop = 4,
					 .bytes = 512,
					 .life = LIFE_EVER});
}

/* Keys seen for the first time fill it; all are seen before half of the run is over. */
static void add_shape_cache(struct world *world)
{
	double keys = chance_log(world, 6, fmax(6, world->steps / 16.0));

	while (keys > 6 && keys * (log(keys) + 3) > 0.5 * world->steps)
		keys *= 0.8;
	world_claim(world, VERDICT_PLATEAU, BIT(JUMP) | BIT(GROWING));
	odd_cache(world, &(struct cache){.site = site(world),
					 .keys = (uint32_t)keys,
					 .asks = 1,
					 .bytes = large_size(world),
					 .spread = 0.3});
}

/* Ever fewer are new: the chance of a new one falls as 1 / step. */
static void add_fading_cache(struct world *world)
{
	world_claim(world, VERDICT_PLATEAU, BIT(JUMP) | BIT(GROWING));
	odd_fading(world, chance_uniform(world, 2, 8), large_size(world));
}

/* Common keys come early, the last of the rare ones late; the rarest come four times. */
static void add_uneven_cache(struct world *world)
{
	double zipf = chance_uniform(world, 0.5, 1.3);
	uint32_t keys = 6;
	double sum = 0;

	for (uint32_t i = 1; i < 1000; i++) {
		sum += pow(i, -zipf);
		if (world->steps * pow(i, -zipf) / sum > 4)
			keys = i > keys ? i : keys;
	}
	world_claim(world, VERDICT_PLATEAU, BIT(JUMP) | BIT(GROWING));
	odd_cache(world, &(struct cache){.site = site(world),
					 .keys = keys,
					 .zipf = zipf,
					 .asks = 1,
					 .bytes = large_size(world)});
}

static void add_warm_up_shapes(struct world *world)
{
	world_claim(world, VERDICT_PLATEAU, BIT(JUMP));
	odd_cache(world, &(struct cache){.site = site(world),
					 .keys = 5,
					 .asks = 1,
					 .bytes = large_size(world),
					 .spread = 0.5});
}

static void claim_plateau(struct world *world)
{
	world_claim(world, VERDICT_PLATEAU, BIT(STABLE) | BIT(NOISY) | BIT(SAWTOOTH));
}

static void held(struct world *world, enum hold hold, double a, double b, double count)
{
	habit_add(world, &(struct habit){.site = site(world),
					 .count = count,
					 .bytes = large_size(world),
					 .life = LIFE_HELD,
					 .hold = hold,
					 .a = a,
					 .b = b});
}

static void add_replay(struct world *world)
{
	claim_plateau(world);
	held(world, HOLD_QUEUE, share(world, 0.05, 0.9, 4), 0, 1);
}

static void add_replay_any(struct world *world)
{
	claim_plateau(world);
	held(world, HOLD_ANY, share(world, 0.05, 0.7, 4), 0, 1);
}

static void add_replay_batches(struct world *world)
{
	uint32_t count = chance_between(world, 2, 8);

	claim_plateau(world);
	held(world, HOLD_QUEUE, count * share(world, 0.05, 0.8, 4), 0, count);
}

static void add_replay_random_batches(struct world *world)
{
	claim_plateau(world);
	habit_add(world, &(struct habit){.site = site(world),
					 .count = 2,
					 .random_count = true,
					 .bytes = any_size(world),
					 .spread = 0.3,
					 .life = LIFE_HELD,
					 .hold = chance_of(world, 0.5) ? HOLD_QUEUE : HOLD_ANY,
					 .a = 2 * share(world, 0.05, 0.6, 4)});
}

static void add_lru(struct world *world)
{
	uint32_t keys = chance_between(world, 20, 400);

	claim_plateau(world);
	world_claim(world, VERDICT_PLATEAU, BIT(JUMP));
	odd_cache(world, &(struct cache){.site = site(world),
					 .keys = keys,
					 .zipf = chance_uniform(world, 0.3, 1.3),
					 .capacity = chance_between(world, 4, keys / 4),
					 .asks = chance_between(world, 1, 3) + 800 / world->steps,
					 .bytes = any_size(world),
					 .spread = 0.5});
}

static void add_autotune(struct world *world)
{
	uint32_t where = site(world);

	world_claim(world, VERDICT_JUMP, BIT(PLATEAU));
	once(world, where, 1, 1);
	once(world, where, 2, 1);
	habit_add(world, &(struct habit){.site = where,
					 .start = 1,
					 .stop = 4,
					 .count = 10,
					 .bytes = large_size(world),
					 .life = LIFE_STEP});
}

static void add_prefetch(struct world *world)
{
	claim_plateau(world);
	held(world, HOLD_QUEUE, chance_between(world, 2, 10), 0, 1);
}

static void add_table(struct world *world)
{
	world->noise = fmax(world->noise, 0.2);
	world_claim(world, VERDICT_PLATEAU, BIT(JUMP) | BIT(NOISY) | BIT(STABLE));
	odd_table(world, small_size(world), chance_of(world, 0.5) ? 2 : 1);
}

/* More comes in than goes out. */
static void add_backlog(struct world *world)
{
	uint32_t count = chance_between(world, 2, 6);

	world_claim(world, VERDICT_GROWING, 0);
	held(world, HOLD_BACKLOG, chance_between(world, 1, 10),
	     chance_uniform(world, 0.2, count - 1), count);
}

static void add_last_checkpoints(struct world *world)
{
	uint32_t every = share(world, 0.01, 0.1, 2);

	claim_plateau(world);
	world_claim(world, VERDICT_PLATEAU, BIT(JUMP) | BIT(GROWING));
	habit_add(world, &(struct habit){.site = site(world),
					 .start = every,
					 .every = every,
					 .count = 4,
					 .bytes = large_size(world),
					 .life = LIFE_HELD,
					 .hold = HOLD_QUEUE,
					 .a = 4 * chance_between(world, 1, 5)});
}

static void add_bank(struct world *world)
{
	claim_plateau(world);
	held(world, HOLD_ANY, chance_between(world, 4, 64), 0, 4);
}

static void add_fragments(struct world *world)
{
	world_claim(world, VERDICT_FRAGMENTATION, 0);
	odd_fragments(world, fmax(1, world->steps / 60.0),
		      chance_uniform(world, 32 << 20, 256 << 20));
}

static void add_curriculum(struct world *world)
{
	world_claim(world, VERDICT_WORKLOAD, 0);
	world->noise = fmin(world->noise, 0.15);
	world->growth = chance_uniform(world, 1.8, 5);
}

static void add_curriculum_outputs(struct world *world)
{
	double bytes = any_size(world);
	double count = chance_between(world, 1, 4);

	add_curriculum(world);
	for (uint32_t i = 0; i < 2; i++)
		habit_add(world, &(struct habit){.site = site(world),
						 .count = count,
						 .bytes = bytes * (i + 1),
						 .by_length = true,
						 .life = i ? LIFE_STEP : LIFE_AGE,
						 .a = 1});
}

static void add_larger_batches(struct world *world)
{
	world_claim(world, VERDICT_WORKLOAD, 0);
	for (uint32_t i = 1; i < 5; i++)
		habit_add(world, &(struct habit){.site = site(world),
						 .start = i * world->steps / 5,
						 .count = 1 << i,
						 .bytes = 32 << 20,
						 .life = LIFE_STEP});
	/* All at once at the peak. */
	habit_add(world, &(struct habit){.site = site(world),
					 .count = 2,
					 .ramp = 10,
					 .bytes = 32 << 20,
					 .life = LIFE_AGE,
					 .a = 1});
}

static void claim_sawtooth(struct world *world)
{
	world_claim(world, VERDICT_SAWTOOTH, BIT(NOISY) | BIT(PLATEAU) | BIT(STABLE));
}

static void add_epoch_metric(struct world *world)
{
	claim_sawtooth(world);
	held(world, HOLD_EVERY, share(world, 0.01, 0.12, 4), 0, chance_between(world, 1, 4));
}

static void add_epoch_metrics(struct world *world)
{
	double period = share(world, 0.01, 0.12, 4);

	claim_sawtooth(world);
	for (uint32_t i = chance_between(world, 2, 5); i > 0; i--)
		held(world, HOLD_EVERY, period, 0, chance_between(world, 1, 2));
}

static void add_gc(struct world *world)
{
	claim_sawtooth(world);
	held(world, HOLD_COUNT, share(world, 0.02, 0.1, 4), 1, 1);
}

static void add_slower_gc(struct world *world)
{
	claim_sawtooth(world);
	held(world, HOLD_COUNT, share(world, 0.02, 0.06, 4), chance_uniform(world, 1.05, 1.6), 1);
}

static void add_random_gc(struct world *world)
{
	claim_sawtooth(world);
	held(world, HOLD_CHANCE, chance_log(world, 25.0 / world->steps, 0.5), 0, 1);
}

static void add_sessions(struct world *world)
{
	claim_sawtooth(world);
	held(world, HOLD_SESSION, share(world, 0.005, 0.03, 2), chance_uniform(world, 2.5, 5), 1);
}

/* Grows with each token, begins anew with each sentence. */
static void add_kv_cache(struct world *world)
{
	double more = large_size(world) / 8;

	claim_sawtooth(world);
	odd_swelling(world, &(struct swelling){.site = site(world),
					       .start = 1,
					       .every = 1,
					       .reset = share(world, 0.01, 0.1, 3),
					       .bytes = more,
					       .more = more});
}

static void add_trial_cycles(struct world *world)
{
	uint32_t every = share(world, 0.01, 0.05, 2);

	claim_sawtooth(world);
	for (uint32_t i = 0; i < 2; i++)
		habit_add(world, &(struct habit){.site = site(world),
						 .start = 1,
						 .every = every,
						 .count = chance_between(world, 2, 10),
						 .bytes = large_size(world),
						 .life = LIFE_HELD,
						 .hold = HOLD_EVERY,
						 .a = 3 * every});
}

static void add_evaluation_lists(struct world *world)
{
	uint32_t every = share(world, 0.04, 0.12, 8);

	claim_sawtooth(world);
	habit_add(world, &(struct habit){.site = site(world),
					 .start = every,
					 .on = every / 4,
					 .off = every - every / 4,
					 .bytes = large_size(world),
					 .life = LIFE_HELD,
					 .hold = HOLD_EVERY,
					 .a = every});
}

/* Two lists of one stack, cleared at different times. */
static void add_two_periods(struct world *world)
{
	uint32_t where = site(world);

	claim_sawtooth(world);
	for (uint32_t i = 0; i < 2; i++)
		habit_add(world, &(struct habit){.site = where,
						 .bytes = large_size(world),
						 .life = LIFE_HELD,
						 .hold = HOLD_EVERY,
						 .a = i ? share(world, 0.06, 0.12, 8)
							: share(world, 0.01, 0.04, 3)});
}

static void claim_noisy(struct world *world)
{
	world_claim(world, VERDICT_NOISY,
		    BIT(STABLE) | BIT(SAWTOOTH) | BIT(PLATEAU) | BIT(WORKLOAD));
}

/* What is kept was computed from activations at least as large. */
static void each(struct world *world, double count, enum life life, double a, double b)
{
	struct habit habit = {.site = site(world),
			      .count = count,
			      .bytes = large_size(world),
			      .spread = 0.3,
			      .by_length = true,
			      .life = life,
			      .a = a,
			      .b = b};

	habit_add(world, &habit);
	habit.site = site(world);
	habit.life = LIFE_STEP;
	habit.bytes *= 2;
	habit_add(world, &habit);
}

static void add_outputs(struct world *world)
{
	claim_noisy(world);
	each(world, chance_between(world, 1, 4), LIFE_AGE, 1, 0);
}

static void add_mid_forward(struct world *world)
{
	claim_noisy(world);
	for (uint32_t i = 0; i < 4; i++)
		each(world, chance_between(world, 1, 6), LIFE_AGE, 1, 0);
}

static void add_heavy_tail(struct world *world)
{
	claim_noisy(world);
	habit_add(world, &(struct habit){.site = site(world),
					 .count = 2,
					 .bytes = large_size(world) / 4,
					 .sigma = chance_uniform(world, 0.8, 1.6),
					 .life = LIFE_AGE,
					 .a = chance_between(world, 1, 3)});
}

static void add_memory(struct world *world)
{
	claim_noisy(world);
	odd_memory(world, large_size(world), 0.25, chance_uniform(world, 0.5, 0.995));
}

static void add_walk(struct world *world)
{
	claim_noisy(world);
	odd_walk(world, 1, chance_between(world, 5, 100), chance_between(world, 1, 10),
		 large_size(world));
}

static void add_batch(struct world *world)
{
	claim_noisy(world);
	odd_batch(world, large_size(world), share(world, 0.02, 0.2, 4));
}

static void add_two_lives(struct world *world)
{
	claim_noisy(world);
	each(world, 1 + 600 / world->steps, LIFE_TWO, share(world, 0.01, 1 / 12.0, 2),
	     chance_uniform(world, 0.1, 0.4));
}

static void add_random_lives(struct world *world)
{
	claim_noisy(world);
	each(world, chance_between(world, 1, 3), LIFE_GEOMETRIC, share(world, 0.005, 0.05, 1), 0);
}

static void add_even_lives(struct world *world)
{
	double longest = share(world, 0.01, 0.12, 3);

	claim_noisy(world);
	each(world, chance_between(world, 1, 3), LIFE_UNIFORM, 1, longest);
}

static void add_long_tail(struct world *world)
{
	claim_noisy(world);
	world_claim(world, VERDICT_NOISY, BIT(JUMP));
	world_claim(world, VERDICT_NOISY, BIT(JUMP));
	each(world, chance_between(world, 1, 4), LIFE_PARETO, 1, chance_uniform(world, 1.3, 3));
}

static void add_log_normal(struct world *world)
{
	claim_noisy(world);
	each(world, chance_between(world, 1, 3), LIFE_LOGNORMAL, share(world, 0.002, 0.02, 1),
	     chance_uniform(world, 0.3, 1));
}

static void add_short_bursts(struct world *world)
{
	claim_noisy(world);
	habit_add(world, &(struct habit){.site = site(world),
					 .chance = 0.1,
					 .count = 20,
					 .random_count = true,
					 .bytes = large_size(world),
					 .life = LIFE_AGE,
					 .a = chance_between(world, 1, 5)});
}

static void claim_stable(struct world *world)
{
	world_claim(world, VERDICT_STABLE, BIT(NOISY) | BIT(PLATEAU) | BIT(SAWTOOTH));
}

static void add_previous_step(struct world *world)
{
	claim_stable(world);
	habit_add(world, &(struct habit){.site = site(world),
					 .count = chance_between(world, 1, 8),
					 .bytes = large_size(world),
					 .life = LIFE_AGE,
					 .a = chance_between(world, 1, 3)});
}

static void add_two_models(struct world *world)
{
	claim_stable(world);
	for (uint32_t i = 0; i < 2; i++)
		habit_add(world, &(struct habit){.site = site(world),
						 .start = 1 + i,
						 .every = 2,
						 .count = 4,
						 .bytes = large_size(world),
						 .life = LIFE_AGE,
						 .a = 2});
}

static void add_nothing(struct world *world)
{
	claim_stable(world);
}

const struct part bounded_parts[] = {
	{"optimizer-state", add_optimizer_state, 20},
	{"late-optimizer", add_late_optimizer, 20},
	{"unfreeze", add_unfreeze, 20},
	{"second-optimizer", add_second_optimizer, 20},
	{"first-evaluation", add_first_evaluation, 20},
	{"several-jumps", add_several_jumps, 40},
	{"lazy-modules", add_lazy_modules, 20},
	{"small-jump", add_small_jump, 20},
	{"shape-cache", add_shape_cache, 60},
	{"fading-cache", add_fading_cache, 100},
	{"uneven-cache", add_uneven_cache, 100},
	{"warm-up-shapes", add_warm_up_shapes, 60},
	{"replay", add_replay, 40},
	{"replay-any", add_replay_any, 60},
	{"replay-batches", add_replay_batches, 40},
	{"replay-random-batches", add_replay_random_batches, 60},
	{"lru", add_lru, 40},
	{"autotune", add_autotune, 20},
	{"prefetch", add_prefetch, 30},
	{"table", add_table, 40},
	{"backlog", add_backlog, 60},
	{"last-checkpoints", add_last_checkpoints, 60},
	{"bank", add_bank, 40},
	{"fragments", add_fragments, 60},
	{"curriculum", add_curriculum, 60},
	{"curriculum-outputs", add_curriculum_outputs, 60},
	{"larger-batches", add_larger_batches, 60},
	{"epoch-metric", add_epoch_metric, 60},
	{"epoch-metrics", add_epoch_metrics, 60},
	{"gc", add_gc, 60},
	{"slower-gc", add_slower_gc, 100},
	{"random-gc", add_random_gc, 100},
	{"sessions", add_sessions, 100},
	{"kv-cache", add_kv_cache, 60},
	{"trial-cycles", add_trial_cycles, 60},
	{"evaluation-lists", add_evaluation_lists, 100},
	{"two-periods", add_two_periods, 100},
	{"outputs", add_outputs, 20},
	{"mid-forward", add_mid_forward, 20},
	{"heavy-tail", add_heavy_tail, 20},
	{"memory", add_memory, 20},
	{"walk", add_walk, 100},
	{"batch", add_batch, 40},
	{"two-lives", add_two_lives, 60},
	{"random-lives", add_random_lives, 60},
	{"even-lives", add_even_lives, 60},
	{"long-tail", add_long_tail, 60},
	{"log-normal", add_log_normal, 60},
	{"short-bursts", add_short_bursts, 20},
	{"previous-step", add_previous_step, 20},
	{"two-models", add_two_models, 20},
	{"nothing", add_nothing, 20},
	{0},
};
