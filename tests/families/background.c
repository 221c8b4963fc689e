/* Parameters, gradients, optimizer state, inputs, activations: every training has them. */
#include <math.h>

#include "habit.h"
#include "parts.h"

double steps_of_proof(const struct world *world)
{
	return 1.3 * fmax(20, fmin(500, world->steps / 10.0)) + 8;
}

double small_size(struct world *world)
{
	return chance_log(world, 512, 64 << 10);
}

double any_size(struct world *world)
{
	return chance_log(world, 512, 16 << 20);
}

/* Large enough to name a device whose peak is below 100 GB. */
double large_size(struct world *world)
{
	return chance_log(world, 2 << 20, 64 << 20);
}

uint32_t share_of_steps(struct world *world, double low, double high, uint32_t least)
{
	double steps = chance_log(world, fmax(low * world->steps, least), high * world->steps);

	return (uint32_t)fmax(steps, least);
}

uint32_t innocent_site(struct world *world)
{
	return world_site(world, false);
}

void hold_large(struct world *world, enum hold hold, double a, double b, double count)
{
	habit_add(world, &(struct habit){.site = world_site(world, false),
					 .count = count,
					 .bytes = large_size(world),
					 .life = LIFE_HELD,
					 .hold = hold,
					 .a = a,
					 .b = b});
}

static void parameters(struct world *world, double count, double bytes)
{
	habit_add(world, &(struct habit){.site = world_site(world, false),
					 .stop = 1,
					 .count = count,
					 .bytes = bytes,
					 .life = LIFE_EVER});
}

static void each_step(struct world *world, double count, double bytes, enum life life)
{
	habit_add(world, &(struct habit){.site = world_site(world, false),
					 .count = count,
					 .bytes = bytes,
					 .by_length = true,
					 .life = life,
					 .a = 1});
}

static void in_step_one(struct world *world, double count, double bytes)
{
	habit_add(world, &(struct habit){.site = world_site(world, false),
					 .start = 1,
					 .stop = 2,
					 .count = count,
					 .bytes = bytes,
					 .life = LIFE_EVER});
	world_claim(world, count * bytes >= 1 << 20 ? VERDICT_JUMP : VERDICT_STABLE,
		    1 << VERDICT_JUMP);
}

/* Gradients are made anew in each step and given back in the next, before the mark or not. */
static void gradients(struct world *world, double count, double bytes)
{
	habit_add(world, &(struct habit){.site = world_site(world, false),
					 .count = count,
					 .bytes = bytes,
					 .life = chance_of(world, 0.5) ? LIFE_AGE : LIFE_STEP,
					 .a = 1});
}

static void work(struct world *world)
{
	double bytes = chance_log(world, 1 << 20, 64 << 20);

	each_step(world, 1, bytes / 8, LIFE_AGE); /* the batch */
	each_step(world, 1, 512, LIFE_AGE);	  /* the loss */
	each_step(world, 2, bytes, LIFE_STEP);	  /* activations */
	each_step(world, 1, bytes / 3, LIFE_STEP);
	if (world->noise > 0)
		world_claim(world, VERDICT_NOISY, 1 << VERDICT_STABLE);
}

void background_plain(struct world *world)
{
	uint32_t count = chance_between(world, 4, 24);
	double bytes = chance_log(world, 4 << 10, 8 << 20);

	parameters(world, count, bytes);
	gradients(world, chance_between(world, 1, 6), bytes);
	work(world);
}

void background_any(struct world *world)
{
	uint32_t count = chance_between(world, 4, 24);
	double bytes = chance_log(world, 4 << 10, 8 << 20);

	if (chance_of(world, 0.7))
		world->noise = chance_uniform(world, 0, 0.35);
	parameters(world, count, bytes);
	if (chance_of(world, 0.5))
		gradients(world, chance_between(world, 1, 6), bytes);
	else
		in_step_one(world, count, bytes);
	if (chance_of(world, 0.7))
		in_step_one(world, 2 * count, bytes);
	work(world);
}
