/*
 * Events that can't tell: the same ones come from a leak and from something bounded.
 * LEAK is right if it says `bound unknown`; anything else that doesn't fail a gate too.
 */
#include <math.h>

#include "habit.h"
#include "odd.h"
#include "parts.h"

static uint32_t site(struct world *world)
{
	world->undecidable = true;
	return world_site(world, false);
}

static void filling(struct world *world, enum hold hold, double a)
{
	habit_add(world, &(struct habit){.site = site(world),
					 .bytes = any_size(world),
					 .life = LIFE_HELD,
					 .hold = hold,
					 .a = a});
}

void unclear_replay_filling(struct world *world)
{
	filling(world, chance_of(world, 0.5) ? HOLD_QUEUE : HOLD_ANY, 2.0 * world->steps);
}

void unclear_long_accumulation(struct world *world)
{
	filling(world, HOLD_EVERY, world->steps + 1.0);
}

void unclear_stages(struct world *world)
{
	uint32_t stages = chance_between(world, 6, 12);

	habit_add(world, &(struct habit){.site = site(world),
					 .start = world->steps / stages,
					 .every = world->steps / stages,
					 .count = 10,
					 .bytes = any_size(world),
					 .life = LIFE_EVER});
}

void unclear_endless_cache(struct world *world)
{
	odd_cache(world, &(struct cache){.site = site(world),
					 .keys = 20000,
					 .zipf = chance_uniform(world, 0.8, 1.4),
					 .asks = 1,
					 .bytes = any_size(world)});
}

void unclear_few_rounds(struct world *world)
{
	uint32_t every = world->steps / chance_between(world, 2, 5);

	habit_add(world, &(struct habit){.site = site(world),
					 .start = every,
					 .every = every,
					 .count = 4,
					 .bytes = any_size(world),
					 .life = LIFE_EVER});
}

void unclear_first_evaluation(struct world *world)
{
	habit_add(world, &(struct habit){.site = site(world),
					 .start = world->steps - 12,
					 .bytes = any_size(world),
					 .life = LIFE_EVER});
}
