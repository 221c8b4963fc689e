/* Patterns that are no leaks: they happen once or fill; and inputs that grow. */
#include <math.h>

#include "habit.h"
#include "odd.h"
#include "parts.h"

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

void bounded_optimizer_state(struct world *world)
{
	claim_jump(world);
	once(world, innocent_site(world), 1, chance_between(world, 2, 60));
}

void bounded_late_optimizer(struct world *world)
{
	claim_jump(world);
	once(world, innocent_site(world), chance_between(world, 2, world->steps - 3), 20);
}

void bounded_unfreeze(struct world *world)
{
	uint32_t step = chance_between(world, 2, world->steps - 4);

	claim_jump(world);
	once(world, innocent_site(world), step, chance_between(world, 1, 20));
	once(world, innocent_site(world), step + 1, chance_between(world, 1, 40));
}

void bounded_second_optimizer(struct world *world)
{
	claim_jump(world);
	once(world, innocent_site(world), 1, 10);
	once(world, innocent_site(world), chance_between(world, 2, world->steps - 3), 10);
}

/* The first evaluation makes helpers that stay; each later one uses them. */
void bounded_first_evaluation(struct world *world)
{
	uint32_t every = share_of_steps(world, 0.03, 0.3, 2);

	claim_jump(world);
	once(world, innocent_site(world), every, chance_between(world, 1, 8));
	habit_add(world, &(struct habit){.site = innocent_site(world),
					 .start = every,
					 .every = every,
					 .count = 8,
					 .bytes = any_size(world),
					 .life = LIFE_STEP});
}

void bounded_several_jumps(struct world *world)
{
	uint32_t where = innocent_site(world);

	claim_jump(world);
	for (uint32_t i = chance_between(world, 2, 5); i > 0; i--)
		once(world, where, chance_between(world, 1, world->steps - 3), 2);
}

void bounded_lazy_modules(struct world *world)
{
	claim_jump(world);
	world_claim(world, VERDICT_JUMP, BIT(PLATEAU));
	for (uint32_t i = chance_between(world, 2, 12); i > 0; i--)
		once(world, innocent_site(world), chance_between(world, 1, 8),
		     chance_between(world, 1, 4));
}

void bounded_small_jump(struct world *world)
{
	habit_add(world, &(struct habit){.site = innocent_site(world),
					 .start = 3,
					 .stop = 4,
					 .bytes = 512,
					 .life = LIFE_EVER});
}

/* Keys seen for the first time fill it; all are seen before half of the run is over. */
void bounded_shape_cache(struct world *world)
{
	double keys = chance_log(world, 6, fmax(6, world->steps / 16.0));

	while (keys > 6 && keys * (log(keys) + 3) > 0.5 * world->steps)
		keys *= 0.8;
	world_claim(world, VERDICT_PLATEAU, BIT(JUMP) | BIT(GROWING));
	odd_cache(world, &(struct cache){.site = innocent_site(world),
					 .keys = (uint32_t)keys,
					 .asks = 1,
					 .bytes = large_size(world),
					 .spread = 0.3});
}

/* Ever fewer are new: the chance of a new one falls as 1 / step. */
void bounded_fading_cache(struct world *world)
{
	world_claim(world, VERDICT_PLATEAU, BIT(JUMP) | BIT(GROWING));
	odd_fading(world, chance_uniform(world, 2, 8), large_size(world));
}

/* Common keys come early, the last of the rare ones late; the rarest come four times. */
void bounded_uneven_cache(struct world *world)
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
	odd_cache(world, &(struct cache){.site = innocent_site(world),
					 .keys = keys,
					 .zipf = zipf,
					 .asks = 1,
					 .bytes = large_size(world)});
}

void bounded_warm_up_shapes(struct world *world)
{
	world_claim(world, VERDICT_PLATEAU, BIT(JUMP));
	odd_cache(world, &(struct cache){.site = innocent_site(world),
					 .keys = 5,
					 .asks = 1,
					 .bytes = large_size(world),
					 .spread = 0.5});
}

static void claim_plateau(struct world *world)
{
	world_claim(world, VERDICT_PLATEAU, BIT(STABLE) | BIT(NOISY) | BIT(SAWTOOTH));
}

void bounded_replay(struct world *world)
{
	claim_plateau(world);
	hold_large(world, HOLD_QUEUE, share_of_steps(world, 0.05, 0.9, 4), 0, 1);
}

void bounded_replay_any(struct world *world)
{
	claim_plateau(world);
	hold_large(world, HOLD_ANY, share_of_steps(world, 0.05, 0.7, 4), 0, 1);
}

void bounded_replay_batches(struct world *world)
{
	uint32_t count = chance_between(world, 2, 8);

	claim_plateau(world);
	hold_large(world, HOLD_QUEUE, count * share_of_steps(world, 0.05, 0.8, 4), 0, count);
}

void bounded_replay_random_batches(struct world *world)
{
	claim_plateau(world);
	habit_add(world, &(struct habit){.site = innocent_site(world),
					 .count = 2,
					 .random_count = true,
					 .bytes = any_size(world),
					 .spread = 0.3,
					 .life = LIFE_HELD,
					 .hold = chance_of(world, 0.5) ? HOLD_QUEUE : HOLD_ANY,
					 .a = 2 * share_of_steps(world, 0.05, 0.6, 4)});
}

void bounded_lru(struct world *world)
{
	uint32_t keys = chance_between(world, 20, 400);

	claim_plateau(world);
	world_claim(world, VERDICT_PLATEAU, BIT(JUMP));
	odd_cache(world, &(struct cache){.site = innocent_site(world),
					 .keys = keys,
					 .zipf = chance_uniform(world, 0.3, 1.3),
					 .capacity = chance_between(world, 4, keys / 4),
					 .asks = chance_between(world, 1, 3) + 800 / world->steps,
					 .bytes = any_size(world),
					 .spread = 0.5});
}

void bounded_autotune(struct world *world)
{
	uint32_t where = innocent_site(world);

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

void bounded_prefetch(struct world *world)
{
	claim_plateau(world);
	hold_large(world, HOLD_QUEUE, chance_between(world, 2, 10), 0, 1);
}

void bounded_table(struct world *world)
{
	world->noise = fmax(world->noise, 0.2);
	world_claim(world, VERDICT_PLATEAU, BIT(JUMP) | BIT(NOISY) | BIT(STABLE));
	odd_table(world, small_size(world), chance_of(world, 0.5) ? 2 : 1);
}

/* More comes in than goes out. */
void bounded_backlog(struct world *world)
{
	uint32_t count = chance_between(world, 2, 6);

	world_claim(world, VERDICT_GROWING, 0);
	hold_large(world, HOLD_BACKLOG, chance_between(world, 1, 10),
		   chance_uniform(world, 0.2, count - 1), count);
}

void bounded_last_checkpoints(struct world *world)
{
	uint32_t every = share_of_steps(world, 0.01, 0.1, 2);

	claim_plateau(world);
	world_claim(world, VERDICT_PLATEAU, BIT(JUMP) | BIT(GROWING));
	habit_add(world, &(struct habit){.site = innocent_site(world),
					 .start = every,
					 .every = every,
					 .count = 4,
					 .bytes = large_size(world),
					 .life = LIFE_HELD,
					 .hold = HOLD_QUEUE,
					 .a = 4 * chance_between(world, 1, 5)});
}

void bounded_bank(struct world *world)
{
	claim_plateau(world);
	hold_large(world, HOLD_ANY, chance_between(world, 4, 64), 0, 4);
}

void bounded_fragments(struct world *world)
{
	world_claim(world, VERDICT_FRAGMENTATION, 0);
	odd_fragments(world, fmax(1, world->steps / 60.0),
		      chance_uniform(world, 32 << 20, 256 << 20));
}

void bounded_curriculum(struct world *world)
{
	world_claim(world, VERDICT_WORKLOAD, 0);
	world->noise = fmin(world->noise, 0.15);
	world->growth = chance_uniform(world, 1.8, 5);
}

/* From short inputs to many times as long ones, beside what each step needs anyway. */
void alone_steep_curriculum(struct world *world)
{
	bounded_curriculum(world);
	world->growth = chance_log(world, 6, 40);
	odd_inputs(world, innocent_site(world), chance_log(world, 64 << 10, 2 << 20));
	habit_add(world, &(struct habit){.site = innocent_site(world),
					 .bytes = chance_log(world, 1 << 20, 128 << 20),
					 .life = LIFE_STEP});
}

void bounded_curriculum_outputs(struct world *world)
{
	double bytes = any_size(world);
	double count = chance_between(world, 1, 4);

	bounded_curriculum(world);
	for (uint32_t i = 0; i < 2; i++)
		habit_add(world, &(struct habit){.site = innocent_site(world),
						 .count = count,
						 .bytes = bytes * (i + 1),
						 .by_length = true,
						 .life = i ? LIFE_STEP : LIFE_AGE,
						 .a = 1});
}

void bounded_larger_batches(struct world *world)
{
	world_claim(world, VERDICT_WORKLOAD, 0);
	for (uint32_t i = 1; i < 5; i++)
		habit_add(world, &(struct habit){.site = innocent_site(world),
						 .start = i * world->steps / 5,
						 .count = 1 << i,
						 .bytes = 32 << 20,
						 .life = LIFE_STEP});
	/* All at once at the peak. */
	habit_add(world, &(struct habit){.site = innocent_site(world),
					 .count = 2,
					 .ramp = 10,
					 .bytes = 32 << 20,
					 .life = LIFE_AGE,
					 .a = 1});
}
