/* Leaks: call stacks of which some blocks stay for ever, round after round. */
#include <math.h>

#include "habit.h"
#include "odd.h"
#include "parts.h"

static uint32_t leak_site(struct world *world)
{
	world_claim(world, VERDICT_LEAK, 0);
	return world_site(world, true);
}

/* A share of the steps, at least `least`. */
static uint32_t share(struct world *world, double low, double high, uint32_t least)
{
	double steps = chance_log(world, fmax(low * world->steps, least), high * world->steps);

	return (uint32_t)fmax(steps, least);
}

/* A start that leaves time for proof; `slowdown`: as many times the usual. */
static uint32_t late_start(struct world *world, double slowdown)
{
	double latest = world->steps - slowdown * steps_of_proof(world);

	return (uint32_t)fmax(1, chance_uniform(world, 0.1 * latest, latest));
}

static void add_each_step(struct world *world)
{
	habit_add(world, &(struct habit){.site = leak_site(world),
					 .count = chance_between(world, 1, 3),
					 .bytes = any_size(world),
					 .spread = chance_of(world, 0.5) ? 0.3 : 0,
					 .life = LIFE_EVER});
}

static void noise(struct world *world, uint32_t site)
{
	habit_add(world,
		  &(struct habit){
			  .site = site, .bytes = 1e8, .spread = 0.3, .life = LIFE_AGE, .a = 1});
}

static void add_under_noise(struct world *world)
{
	habit_add(world,
		  &(struct habit){.site = leak_site(world), .bytes = 512, .life = LIFE_EVER});
	noise(world, world_site(world, false));
}

static void add_in_noise(struct world *world)
{
	uint32_t site = leak_site(world);

	habit_add(world, &(struct habit){.site = site, .bytes = 512, .life = LIFE_EVER});
	noise(world, site);
}

static void periodic(struct world *world, uint32_t site, uint32_t every, double count)
{
	habit_add(world, &(struct habit){.site = site,
					 .start = chance_between(world, 1, every),
					 .every = every,
					 .count = count,
					 .bytes = any_size(world),
					 .life = LIFE_EVER});
}

static void add_per_epoch(struct world *world)
{
	periodic(world, leak_site(world), share(world, 0.01, 1 / 9.0, 2),
		 chance_between(world, 1, 4));
}

/* Four batches of each evaluation stay; the others are of the moment. */
static void add_per_evaluation(struct world *world)
{
	uint32_t site = leak_site(world);
	uint32_t every = share(world, 0.02, 1 / 9.0, 2);

	habit_add(world, &(struct habit){.site = site,
					 .start = every,
					 .every = every,
					 .count = 4,
					 .bytes = any_size(world),
					 .life = LIFE_EVER});
	habit_add(world, &(struct habit){.site = site,
					 .start = every,
					 .every = every,
					 .count = chance_between(world, 1, 12),
					 .bytes = any_size(world),
					 .life = LIFE_STEP});
}

static void add_per_exception(struct world *world)
{
	habit_add(world, &(struct habit){.site = leak_site(world),
					 .chance = chance_log(world, 40.0 / world->steps, 0.5),
					 .count = chance_between(world, 1, 5),
					 .bytes = any_size(world),
					 .life = LIFE_EVER});
}

static void add_one_in_twenty(struct world *world)
{
	habit_add(world, &(struct habit){.site = leak_site(world),
					 .count = fmax(1, ceil(1000.0 / world->steps)) +
						  chance_between(world, 0, 4),
					 .bytes = any_size(world),
					 .keep = 0.05,
					 .life = chance_of(world, 0.5) ? LIFE_STEP : LIFE_AGE,
					 .a = 1});
}

static void add_late(struct world *world)
{
	habit_add(world, &(struct habit){.site = leak_site(world),
					 .start = late_start(world, 1),
					 .bytes = any_size(world),
					 .life = LIFE_EVER});
}

static void add_late_in_busy(struct world *world)
{
	uint32_t site = leak_site(world);

	habit_add(world, &(struct habit){.site = site,
					 .start = late_start(world, 1.2),
					 .bytes = any_size(world),
					 .life = LIFE_EVER});
	habit_add(world, &(struct habit){.site = site,
					 .count = chance_between(world, 1, 4),
					 .bytes = any_size(world),
					 .life = LIFE_AGE,
					 .a = chance_between(world, 1, 2)});
}

static void add_with_jump(struct world *world)
{
	uint32_t site = leak_site(world);
	uint32_t at = chance_between(world, 1, world->steps / 2);

	habit_add(world,
		  &(struct habit){.site = site, .bytes = small_size(world), .life = LIFE_EVER});
	habit_add(world, &(struct habit){.site = site,
					 .start = at,
					 .stop = at + 1,
					 .count = chance_between(world, 1, 400),
					 .bytes = small_size(world),
					 .life = LIFE_EVER});
}

static void add_graph(struct world *world)
{
	uint32_t start = late_start(world, 1.2);

	for (uint32_t i = chance_between(world, 3, 12); i > 0; i--)
		habit_add(world, &(struct habit){.site = leak_site(world),
						 .start = start,
						 .count = chance_between(world, 1, 2),
						 .bytes = any_size(world),
						 .by_length = true,
						 .life = LIFE_EVER});
}

static void add_bursts(struct world *world)
{
	habit_add(world, &(struct habit){.site = leak_site(world),
					 .chance = chance_log(world, 40.0 / world->steps, 0.4),
					 .count = chance_between(world, 2, 20),
					 .random_count = true,
					 .bytes = any_size(world),
					 .life = LIFE_EVER});
}

/* The same stack makes cycles that gc frees. */
static void add_in_sawtooth(struct world *world)
{
	uint32_t site = leak_site(world);

	habit_add(world, &(struct habit){.site = site,
					 .count = chance_between(world, 1, 3),
					 .bytes = any_size(world),
					 .life = LIFE_HELD,
					 .hold = HOLD_EVERY,
					 .a = share(world, 0.01, 1 / 12.0, 2)});
	habit_add(world, &(struct habit){.site = site,
					 .chance = chance_uniform(world, 0.3, 1),
					 .bytes = small_size(world),
					 .life = LIFE_EVER});
}

static void add_variable(struct world *world)
{
	habit_add(world, &(struct habit){.site = leak_site(world),
					 .bytes = small_size(world),
					 .sigma = chance_uniform(world, 0.3, 1.2),
					 .by_length = true,
					 .life = LIFE_EVER});
}

static void add_accelerating(struct world *world)
{
	habit_add(world, &(struct habit){.site = leak_site(world),
					 .count = chance_uniform(world, 0.3, 2),
					 .random_count = true,
					 .ramp = chance_uniform(world, 2, 8),
					 .bytes = any_size(world),
					 .life = LIFE_EVER});
}

static void add_after_unfreeze(struct world *world)
{
	uint32_t start = late_start(world, 1.2);
	uint32_t site = leak_site(world);

	habit_add(world, &(struct habit){.site = site,
					 .start = start,
					 .stop = start + 1,
					 .count = 30,
					 .bytes = any_size(world),
					 .life = LIFE_EVER});
	habit_add(world, &(struct habit){.site = site,
					 .start = start,
					 .bytes = any_size(world),
					 .life = LIFE_EVER});
}

static void add_paused(struct world *world)
{
	habit_add(world, &(struct habit){.site = leak_site(world),
					 .on = share(world, 0.02, 0.1, 2),
					 .off = share(world, 0.01, 0.06, 1),
					 .bytes = any_size(world),
					 .life = LIFE_EVER});
}

static void add_new_stacks(struct world *world)
{
	uint32_t most = world->steps / 2 < 120 ? world->steps / 2 : 120;

	world_claim(world, VERDICT_LEAK, 0);
	odd_new_stacks(world, chance_between(world, 32, most),
		       chance_between(world, 1, world->steps / 4), any_size(world));
}

static void add_partial_release(struct world *world)
{
	habit_add(world, &(struct habit){.site = leak_site(world),
					 .count = chance_between(world, 1, 4),
					 .bytes = any_size(world),
					 .keep = chance_uniform(world, 0.3, 0.9),
					 .life = LIFE_AGE,
					 .a = share(world, 0.005, 1 / 15.0, 1)});
}

/* A list is cleared once, early; later it is forgotten. */
static void add_reclaimed_once(struct world *world)
{
	habit_add(world, &(struct habit){.site = leak_site(world),
					 .bytes = any_size(world),
					 .life = LIFE_HELD,
					 .hold = HOLD_COUNT,
					 .a = share(world, 0.03, 1 / 8.0, 4),
					 .b = 1e9});
}

/* The mark falls where activations are alive. */
static void add_mid_forward(struct world *world)
{
	uint32_t site = leak_site(world);

	world->noise = 0.3;
	habit_add(world, &(struct habit){.site = site,
					 .count = chance_between(world, 2, 8),
					 .bytes = large_size(world),
					 .by_length = true,
					 .life = LIFE_AGE,
					 .a = 1});
	habit_add(world,
		  &(struct habit){.site = site, .bytes = small_size(world), .life = LIFE_EVER});
}

static void swelling(struct world *world, uint32_t every)
{
	double more = any_size(world);

	odd_swelling(world, &(struct swelling){.site = leak_site(world),
					       .start = 1,
					       .every = every,
					       .bytes = more * chance_uniform(world, 1, 4),
					       .more = more});
}

static void add_cat_each_step(struct world *world)
{
	swelling(world, 1);
}

static void add_cat_each_epoch(struct world *world)
{
	swelling(world, share(world, 0.01, 1 / 20.0, 2));
}

static void add_cat_under_curriculum(struct world *world)
{
	world->growth = chance_uniform(world, 1.5, 3);
	swelling(world, chance_between(world, 1, 3));
}

/* A sweep keeps its trials: parameters and optimizer state of each. */
static void add_trials(struct world *world)
{
	uint32_t every = share(world, 0.02, 1 / 9.0, 2);
	uint32_t start = chance_between(world, 1, every);

	for (uint32_t i = 0; i < 4; i++)
		habit_add(world, &(struct habit){.site = leak_site(world),
						 .start = start + (i > 1),
						 .every = every,
						 .count = chance_between(world, 2, 20),
						 .bytes = any_size(world),
						 .life = LIFE_EVER});
}

static void add_hidden(struct world *world)
{
	add_each_step(world);
	habit_add(world, &(struct habit){.site = world_site(world, false),
					 .count = 20,
					 .ramp = 0.1,
					 .bytes = large_size(world),
					 .life = LIFE_AGE,
					 .a = 1});
}

static void add_micro_batches(struct world *world)
{
	habit_add(world, &(struct habit){.site = leak_site(world),
					 .count = chance_between(world, 4, 16),
					 .bytes = any_size(world),
					 .by_length = true,
					 .life = LIFE_EVER});
}

static void add_two(struct world *world)
{
	add_each_step(world);
	add_per_epoch(world);
}

static void add_dropout(struct world *world)
{
	for (uint32_t i = chance_between(world, 1, 3); i > 0; i--)
		habit_add(world, &(struct habit){.site = leak_site(world),
						 .chance = chance_uniform(world, 0.4, 0.9),
						 .bytes = any_size(world),
						 .life = LIFE_EVER});
}

static void add_alternating(struct world *world)
{
	for (uint32_t i = 0; i < 2; i++)
		habit_add(world, &(struct habit){.site = leak_site(world),
						 .start = 1 + i,
						 .every = 2,
						 .bytes = any_size(world),
						 .life = LIFE_EVER});
}

static void add_rare(struct world *world)
{
	periodic(world, leak_site(world), share(world, 1 / 14.0, 1 / 9.0, 2), 1);
}

static void add_beside_queue(struct world *world)
{
	uint32_t site = leak_site(world);

	habit_add(world, &(struct habit){.site = site,
					 .bytes = any_size(world),
					 .life = LIFE_HELD,
					 .hold = HOLD_QUEUE,
					 .a = share(world, 0.005, 1 / 15.0, 2)});
	habit_add(world, &(struct habit){.site = site,
					 .chance = chance_uniform(world, 0.3, 1),
					 .bytes = any_size(world),
					 .life = LIFE_EVER});
}

static void add_beside_long_tail(struct world *world)
{
	habit_add(world, &(struct habit){.site = leak_site(world),
					 .count = chance_between(world, 2, 5),
					 .bytes = any_size(world),
					 .keep = chance_uniform(world, 0.2, 0.8),
					 .life = LIFE_PARETO,
					 .a = 1,
					 .b = chance_uniform(world, 1.5, 3)});
}

static void add_beside_parameters(struct world *world)
{
	uint32_t site = leak_site(world);

	habit_add(world, &(struct habit){.site = site,
					 .stop = 1,
					 .count = chance_between(world, 1, 200),
					 .bytes = any_size(world),
					 .life = LIFE_EVER});
	habit_add(world, &(struct habit){.site = site,
					 .start = late_start(world, 1.2),
					 .bytes = any_size(world),
					 .life = LIFE_EVER});
}

static void add_many_blocks(struct world *world)
{
	habit_add(world, &(struct habit){.site = leak_site(world),
					 .count = chance_between(world, 16, 40),
					 .bytes = small_size(world),
					 .life = LIFE_EVER});
}

static void add_under_workload(struct world *world)
{
	world->growth = chance_uniform(world, 1.5, 4);
	add_each_step(world);
}

static void add_under_fragments(struct world *world)
{
	odd_fragments(world, chance_uniform(world, 2, 10), 64 << 20);
	add_each_step(world);
}

static void add_per_uneven_epoch(struct world *world)
{
	uint32_t every = share(world, 0.01, 1 / 18.0, 5);

	habit_add(world, &(struct habit){.site = leak_site(world),
					 .start = chance_between(world, 1, every),
					 .every = every,
					 .jitter = every / 5,
					 .count = chance_between(world, 1, 4),
					 .bytes = any_size(world),
					 .life = LIFE_EVER});
}

static void add_random_count(struct world *world)
{
	habit_add(world, &(struct habit){.site = leak_site(world),
					 .count = chance_uniform(world, 0.3, 2),
					 .random_count = true,
					 .bytes = any_size(world),
					 .life = LIFE_EVER});
}

static void add_beside_cache(struct world *world)
{
	odd_cache(world, &(struct cache){.site = world_site(world, false),
					 .keys = 40,
					 .zipf = 1,
					 .capacity = 12,
					 .asks = 1,
					 .bytes = any_size(world)});
	add_each_step(world);
}

const struct part leak_parts[] = {
	{"each-step", add_each_step, 26},
	{"under-noise", add_under_noise, 30},
	{"in-noise", add_in_noise, 34},
	{"per-epoch", add_per_epoch, 60},
	{"per-evaluation", add_per_evaluation, 60},
	{"per-exception", add_per_exception, 120},
	{"one-in-twenty", add_one_in_twenty, 100},
	{"late", add_late, 80},
	{"late-in-busy", add_late_in_busy, 100},
	{"with-jump", add_with_jump, 40},
	{"graph", add_graph, 80},
	{"bursts", add_bursts, 150},
	{"in-sawtooth", add_in_sawtooth, 80},
	{"variable", add_variable, 30},
	{"accelerating", add_accelerating, 60},
	{"after-unfreeze", add_after_unfreeze, 80},
	{"paused", add_paused, 100},
	{"new-stacks", add_new_stacks, 100},
	{"partial-release", add_partial_release, 80},
	{"reclaimed-once", add_reclaimed_once, 100},
	{"mid-forward", add_mid_forward, 40},
	{"cat-each-step", add_cat_each_step, 40},
	{"cat-each-epoch", add_cat_each_epoch, 100},
	{"cat-under-curriculum", add_cat_under_curriculum, 80},
	{"trials", add_trials, 60},
	{"hidden-by-shrinking", add_hidden, 40},
	{"micro-batches", add_micro_batches, 26},
	{"two", add_two, 60},
	{"dropout", add_dropout, 60},
	{"alternating", add_alternating, 40},
	{"rare", add_rare, 100},
	{"beside-queue", add_beside_queue, 100},
	{"beside-long-tail", add_beside_long_tail, 100},
	{"beside-parameters", add_beside_parameters, 80},
	{"many-blocks", add_many_blocks, 26},
	{"under-workload", add_under_workload, 40},
	{"under-fragments", add_under_fragments, 40},
	{"per-uneven-epoch", add_per_uneven_epoch, 120},
	{"random-count", add_random_count, 120},
	{"beside-cache", add_beside_cache, 40},
	{0},
};
