/* Patterns that are no leaks: they come and go, vary, or stay as they are. */
#include <math.h>

#include "habit.h"
#include "odd.h"
#include "parts.h"

static void claim_sawtooth(struct world *world)
{
	world_claim(world, VERDICT_SAWTOOTH, BIT(NOISY) | BIT(PLATEAU) | BIT(STABLE));
}

void bounded_epoch_metric(struct world *world)
{
	claim_sawtooth(world);
	hold_large(world, HOLD_EVERY, share_of_steps(world, 0.01, 0.12, 4), 0,
		   chance_between(world, 1, 4));
}

void bounded_epoch_metrics(struct world *world)
{
	double period = share_of_steps(world, 0.01, 0.12, 4);

	claim_sawtooth(world);
	for (uint32_t i = chance_between(world, 2, 5); i > 0; i--)
		hold_large(world, HOLD_EVERY, period, 0, chance_between(world, 1, 2));
}

void bounded_gc(struct world *world)
{
	claim_sawtooth(world);
	hold_large(world, HOLD_COUNT, share_of_steps(world, 0.02, 0.1, 4), 1, 1);
}

void bounded_slower_gc(struct world *world)
{
	claim_sawtooth(world);
	hold_large(world, HOLD_COUNT, share_of_steps(world, 0.02, 0.06, 4),
		   chance_uniform(world, 1.05, 1.6), 1);
}

void bounded_random_gc(struct world *world)
{
	claim_sawtooth(world);
	hold_large(world, HOLD_CHANCE, chance_log(world, 25.0 / world->steps, 0.5), 0, 1);
}

void bounded_sessions(struct world *world)
{
	claim_sawtooth(world);
	hold_large(world, HOLD_SESSION, share_of_steps(world, 0.005, 0.03, 2),
		   chance_uniform(world, 2.5, 5), 1);
}

/* Grows with each token, begins anew with each sentence. */
void bounded_kv_cache(struct world *world)
{
	double more = large_size(world) / 8;

	claim_sawtooth(world);
	odd_swelling(world, &(struct swelling){.site = innocent_site(world),
					       .start = 1,
					       .every = 1,
					       .reset = share_of_steps(world, 0.01, 0.1, 3),
					       .bytes = more,
					       .more = more});
}

void bounded_trial_cycles(struct world *world)
{
	uint32_t every = share_of_steps(world, 0.01, 0.05, 2);

	claim_sawtooth(world);
	for (uint32_t i = 0; i < 2; i++)
		habit_add(world, &(struct habit){.site = innocent_site(world),
						 .start = 1,
						 .every = every,
						 .count = chance_between(world, 2, 10),
						 .bytes = large_size(world),
						 .life = LIFE_HELD,
						 .hold = HOLD_EVERY,
						 .a = 3 * every});
}

void bounded_evaluation_lists(struct world *world)
{
	uint32_t every = share_of_steps(world, 0.04, 0.12, 8);

	claim_sawtooth(world);
	habit_add(world, &(struct habit){.site = innocent_site(world),
					 .start = every,
					 .on = every / 4,
					 .off = every - every / 4,
					 .bytes = large_size(world),
					 .life = LIFE_HELD,
					 .hold = HOLD_EVERY,
					 .a = every});
}

/* Two lists of one stack, cleared at different times. */
void bounded_two_periods(struct world *world)
{
	uint32_t where = innocent_site(world);

	claim_sawtooth(world);
	for (uint32_t i = 0; i < 2; i++)
		habit_add(world, &(struct habit){.site = where,
						 .bytes = large_size(world),
						 .life = LIFE_HELD,
						 .hold = HOLD_EVERY,
						 .a = i ? share_of_steps(world, 0.06, 0.12, 8)
							: share_of_steps(world, 0.01, 0.04, 3)});
}

static void claim_noisy(struct world *world)
{
	world_claim(world, VERDICT_NOISY,
		    BIT(STABLE) | BIT(SAWTOOTH) | BIT(PLATEAU) | BIT(WORKLOAD));
}

/* What is kept was computed from activations at least as large. */
static void each(struct world *world, double count, enum life life, double a, double b)
{
	struct habit habit = {.site = innocent_site(world),
			      .count = count,
			      .bytes = large_size(world),
			      .spread = 0.3,
			      .by_length = true,
			      .life = life,
			      .a = a,
			      .b = b};

	habit_add(world, &habit);
	habit.site = innocent_site(world);
	habit.life = LIFE_STEP;
	habit.bytes *= 2;
	habit_add(world, &habit);
}

void bounded_outputs(struct world *world)
{
	claim_noisy(world);
	each(world, chance_between(world, 1, 4), LIFE_AGE, 1, 0);
}

void bounded_mid_forward(struct world *world)
{
	claim_noisy(world);
	for (uint32_t i = 0; i < 4; i++)
		each(world, chance_between(world, 1, 6), LIFE_AGE, 1, 0);
}

void bounded_heavy_tail(struct world *world)
{
	claim_noisy(world);
	habit_add(world, &(struct habit){.site = innocent_site(world),
					 .count = 2,
					 .bytes = large_size(world) / 4,
					 .sigma = chance_uniform(world, 0.8, 1.6),
					 .life = LIFE_AGE,
					 .a = chance_between(world, 1, 3)});
}

void bounded_memory(struct world *world)
{
	claim_noisy(world);
	odd_memory(world, large_size(world), 0.25, chance_uniform(world, 0.5, 0.995));
}

void bounded_walk(struct world *world)
{
	claim_noisy(world);
	odd_walk(world, 1, chance_between(world, 5, 100), chance_between(world, 1, 10),
		 large_size(world));
}

void bounded_batch(struct world *world)
{
	claim_noisy(world);
	odd_batch(world, large_size(world), share_of_steps(world, 0.02, 0.2, 4));
}

void bounded_two_lives(struct world *world)
{
	claim_noisy(world);
	each(world, 1 + 600 / world->steps, LIFE_TWO, share_of_steps(world, 0.01, 1 / 12.0, 2),
	     chance_uniform(world, 0.1, 0.4));
}

void bounded_random_lives(struct world *world)
{
	claim_noisy(world);
	each(world, chance_between(world, 1, 3), LIFE_GEOMETRIC,
	     share_of_steps(world, 0.005, 0.05, 1), 0);
}

void bounded_even_lives(struct world *world)
{
	double longest = share_of_steps(world, 0.01, 0.12, 3);

	claim_noisy(world);
	each(world, chance_between(world, 1, 3), LIFE_UNIFORM, 1, longest);
}

void bounded_long_tail(struct world *world)
{
	claim_noisy(world);
	world_claim(world, VERDICT_NOISY, BIT(JUMP));
	world_claim(world, VERDICT_NOISY, BIT(JUMP));
	each(world, chance_between(world, 1, 4), LIFE_PARETO, 1, chance_uniform(world, 1.3, 3));
}

void bounded_log_normal(struct world *world)
{
	claim_noisy(world);
	each(world, chance_between(world, 1, 3), LIFE_LOGNORMAL,
	     share_of_steps(world, 0.002, 0.02, 1), chance_uniform(world, 0.3, 1));
}

void bounded_short_bursts(struct world *world)
{
	claim_noisy(world);
	habit_add(world, &(struct habit){.site = innocent_site(world),
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

void bounded_previous_step(struct world *world)
{
	claim_stable(world);
	habit_add(world, &(struct habit){.site = innocent_site(world),
					 .count = chance_between(world, 1, 8),
					 .bytes = large_size(world),
					 .life = LIFE_AGE,
					 .a = chance_between(world, 1, 3)});
}

void bounded_two_models(struct world *world)
{
	claim_stable(world);
	for (uint32_t i = 0; i < 2; i++)
		habit_add(world, &(struct habit){.site = innocent_site(world),
						 .start = 1 + i,
						 .every = 2,
						 .count = 4,
						 .bytes = large_size(world),
						 .life = LIFE_AGE,
						 .a = 2});
}

void bounded_nothing(struct world *world)
{
	claim_stable(world);
}
