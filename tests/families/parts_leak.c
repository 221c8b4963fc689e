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

/* A start that leaves time for proof; `slowdown`: as many times the usual. */
static uint32_t late_start(struct world *world, double slowdown)
{
	double latest = world->steps - slowdown * steps_of_proof(world);

	return (uint32_t)fmax(1, chance_uniform(world, 0.1 * latest, latest));
}

void leak_each_step(struct world *world)
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

void leak_under_noise(struct world *world)
{
	habit_add(world,
		  &(struct habit){.site = leak_site(world), .bytes = 512, .life = LIFE_EVER});
	noise(world, world_site(world, false));
}

void leak_in_noise(struct world *world)
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

void leak_per_epoch(struct world *world)
{
	periodic(world, leak_site(world), share_of_steps(world, 0.01, 1 / 9.0, 2),
		 chance_between(world, 1, 4));
}

/* Four batches of each evaluation stay; the others are of the moment. */
void leak_per_evaluation(struct world *world)
{
	uint32_t site = leak_site(world);
	uint32_t every = share_of_steps(world, 0.02, 1 / 9.0, 2);

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

void leak_per_exception(struct world *world)
{
	habit_add(world, &(struct habit){.site = leak_site(world),
					 .chance = chance_log(world, 40.0 / world->steps, 0.5),
					 .count = chance_between(world, 1, 5),
					 .bytes = any_size(world),
					 .life = LIFE_EVER});
}

void leak_one_in_twenty(struct world *world)
{
	habit_add(world, &(struct habit){.site = leak_site(world),
					 .count = fmax(1, ceil(1000.0 / world->steps)) +
						  chance_between(world, 0, 4),
					 .bytes = any_size(world),
					 .keep = 0.05,
					 .life = chance_of(world, 0.5) ? LIFE_STEP : LIFE_AGE,
					 .a = 1});
}

void leak_late(struct world *world)
{
	habit_add(world, &(struct habit){.site = leak_site(world),
					 .start = late_start(world, 1),
					 .bytes = any_size(world),
					 .life = LIFE_EVER});
}

void leak_late_in_busy(struct world *world)
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

void leak_with_jump(struct world *world)
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

void leak_graph(struct world *world)
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

void leak_bursts(struct world *world)
{
	habit_add(world, &(struct habit){.site = leak_site(world),
					 .chance = chance_log(world, 40.0 / world->steps, 0.4),
					 .count = chance_between(world, 2, 20),
					 .random_count = true,
					 .bytes = any_size(world),
					 .life = LIFE_EVER});
}

/* The same stack makes cycles that gc frees. */
void leak_in_sawtooth(struct world *world)
{
	uint32_t site = leak_site(world);

	habit_add(world, &(struct habit){.site = site,
					 .count = chance_between(world, 1, 3),
					 .bytes = any_size(world),
					 .life = LIFE_HELD,
					 .hold = HOLD_EVERY,
					 .a = share_of_steps(world, 0.01, 1 / 12.0, 2)});
	habit_add(world, &(struct habit){.site = site,
					 .chance = chance_uniform(world, 0.3, 1),
					 .bytes = small_size(world),
					 .life = LIFE_EVER});
}

void leak_variable(struct world *world)
{
	habit_add(world, &(struct habit){.site = leak_site(world),
					 .bytes = small_size(world),
					 .sigma = chance_uniform(world, 0.3, 1.2),
					 .by_length = true,
					 .life = LIFE_EVER});
}

void leak_accelerating(struct world *world)
{
	habit_add(world, &(struct habit){.site = leak_site(world),
					 .count = chance_uniform(world, 0.3, 2),
					 .random_count = true,
					 .ramp = chance_uniform(world, 2, 8),
					 .bytes = any_size(world),
					 .life = LIFE_EVER});
}

void leak_after_unfreeze(struct world *world)
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

void leak_paused(struct world *world)
{
	habit_add(world, &(struct habit){.site = leak_site(world),
					 .on = share_of_steps(world, 0.02, 0.1, 2),
					 .off = share_of_steps(world, 0.01, 0.06, 1),
					 .bytes = any_size(world),
					 .life = LIFE_EVER});
}

void leak_new_stacks(struct world *world)
{
	uint32_t most = world->steps / 2 < 120 ? world->steps / 2 : 120;

	world_claim(world, VERDICT_LEAK, 0);
	odd_new_stacks(world, chance_between(world, 32, most),
		       chance_between(world, 1, world->steps / 4), any_size(world));
}

void leak_partial_release(struct world *world)
{
	habit_add(world, &(struct habit){.site = leak_site(world),
					 .count = chance_between(world, 1, 4),
					 .bytes = any_size(world),
					 .keep = chance_uniform(world, 0.3, 0.9),
					 .life = LIFE_AGE,
					 .a = share_of_steps(world, 0.005, 1 / 15.0, 1)});
}

/* A list is cleared once, early; later it is forgotten. */
void leak_reclaimed_once(struct world *world)
{
	habit_add(world, &(struct habit){.site = leak_site(world),
					 .bytes = any_size(world),
					 .life = LIFE_HELD,
					 .hold = HOLD_COUNT,
					 .a = share_of_steps(world, 0.03, 1 / 8.0, 4),
					 .b = 1e9});
}

/* The mark falls where activations are alive. */
void leak_mid_forward(struct world *world)
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

void leak_cat_each_step(struct world *world)
{
	swelling(world, 1);
}

void leak_cat_each_epoch(struct world *world)
{
	swelling(world, share_of_steps(world, 0.01, 1 / 20.0, 2));
}

void leak_cat_under_curriculum(struct world *world)
{
	world->growth = chance_uniform(world, 1.5, 3);
	swelling(world, chance_between(world, 1, 3));
}

/* A sweep keeps its trials: parameters and optimizer state of each. */
void leak_trials(struct world *world)
{
	uint32_t every = share_of_steps(world, 0.02, 1 / 9.0, 2);
	uint32_t start = chance_between(world, 1, every);

	for (uint32_t i = 0; i < 4; i++)
		habit_add(world, &(struct habit){.site = leak_site(world),
						 .start = start + (i > 1),
						 .every = every,
						 .count = chance_between(world, 2, 20),
						 .bytes = any_size(world),
						 .life = LIFE_EVER});
}

void leak_hidden(struct world *world)
{
	leak_each_step(world);
	habit_add(world, &(struct habit){.site = world_site(world, false),
					 .count = 20,
					 .ramp = 0.1,
					 .bytes = large_size(world),
					 .life = LIFE_AGE,
					 .a = 1});
}

void leak_micro_batches(struct world *world)
{
	habit_add(world, &(struct habit){.site = leak_site(world),
					 .count = chance_between(world, 4, 16),
					 .bytes = any_size(world),
					 .by_length = true,
					 .life = LIFE_EVER});
}

void leak_two(struct world *world)
{
	leak_each_step(world);
	leak_per_epoch(world);
}

void leak_dropout(struct world *world)
{
	for (uint32_t i = chance_between(world, 1, 3); i > 0; i--)
		habit_add(world, &(struct habit){.site = leak_site(world),
						 .chance = chance_uniform(world, 0.4, 0.9),
						 .bytes = any_size(world),
						 .life = LIFE_EVER});
}

void leak_alternating(struct world *world)
{
	for (uint32_t i = 0; i < 2; i++)
		habit_add(world, &(struct habit){.site = leak_site(world),
						 .start = 1 + i,
						 .every = 2,
						 .bytes = any_size(world),
						 .life = LIFE_EVER});
}

void leak_rare(struct world *world)
{
	periodic(world, leak_site(world), share_of_steps(world, 1 / 14.0, 1 / 9.0, 2), 1);
}

void leak_beside_queue(struct world *world)
{
	uint32_t site = leak_site(world);

	habit_add(world, &(struct habit){.site = site,
					 .bytes = any_size(world),
					 .life = LIFE_HELD,
					 .hold = HOLD_QUEUE,
					 .a = share_of_steps(world, 0.005, 1 / 15.0, 2)});
	habit_add(world, &(struct habit){.site = site,
					 .chance = chance_uniform(world, 0.3, 1),
					 .bytes = any_size(world),
					 .life = LIFE_EVER});
}

void leak_beside_long_tail(struct world *world)
{
	habit_add(world, &(struct habit){.site = leak_site(world),
					 .count = chance_between(world, 2, 5),
					 .bytes = any_size(world),
					 .keep = chance_uniform(world, 0.2, 0.8),
					 .life = LIFE_PARETO,
					 .a = 1,
					 .b = chance_uniform(world, 1.5, 3)});
}

void leak_beside_parameters(struct world *world)
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

void leak_many_blocks(struct world *world)
{
	habit_add(world, &(struct habit){.site = leak_site(world),
					 .count = chance_between(world, 16, 40),
					 .bytes = small_size(world),
					 .life = LIFE_EVER});
}

void leak_under_workload(struct world *world)
{
	world->growth = chance_uniform(world, 1.5, 4);
	leak_each_step(world);
}

void leak_under_fragments(struct world *world)
{
	odd_fragments(world, chance_uniform(world, 2, 10), 64 << 20);
	leak_each_step(world);
}

void leak_per_uneven_epoch(struct world *world)
{
	uint32_t every = share_of_steps(world, 0.01, 1 / 18.0, 5);

	habit_add(world, &(struct habit){.site = leak_site(world),
					 .start = chance_between(world, 1, every),
					 .every = every,
					 .jitter = every / 5,
					 .count = chance_between(world, 1, 4),
					 .bytes = any_size(world),
					 .life = LIFE_EVER});
}

void leak_random_count(struct world *world)
{
	habit_add(world, &(struct habit){.site = leak_site(world),
					 .count = chance_uniform(world, 0.3, 2),
					 .random_count = true,
					 .bytes = any_size(world),
					 .life = LIFE_EVER});
}

void leak_beside_cache(struct world *world)
{
	odd_cache(world, &(struct cache){.site = world_site(world, false),
					 .keys = 40,
					 .zipf = 1,
					 .capacity = 12,
					 .asks = 1,
					 .bytes = any_size(world)});
	leak_each_step(world);
}
