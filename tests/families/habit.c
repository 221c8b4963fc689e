#include "habit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double draw_life(struct world *world, const struct habit *habit)
{
	switch (habit->life) {
	case LIFE_AGE:
		return habit->a;
	case LIFE_GEOMETRIC:
		return ceil(-habit->a * log(chance_uniform(world, 0, 1)));
	case LIFE_UNIFORM:
		return chance_uniform(world, habit->a, habit->b + 1);
	case LIFE_PARETO:
		return chance_pareto(world, habit->a, habit->b);
	case LIFE_LOGNORMAL:
		return habit->a * exp(habit->b * chance_normal(world));
	case LIFE_TWO:
		return chance_of(world, habit->b) ? habit->a : 1;
	default:
		return 1;
	}
}

static double draw_bytes(struct world *world, const struct habit *habit)
{
	double bytes = habit->bytes;

	if (habit->by_length)
		bytes *= world->length;
	if (habit->spread > 0)
		bytes *= 1 + chance_uniform(world, -habit->spread, habit->spread);
	if (habit->sigma > 0)
		bytes *= exp(habit->sigma * chance_normal(world));
	return fmin(bytes, 0x1p36);
}

static void make_one(struct world *world, struct habit *habit)
{
	uint32_t block = world_alloc(world, habit->site, draw_bytes(world, habit));

	if (habit->life == LIFE_EVER || (habit->keep > 0 && chance_of(world, habit->keep)))
		return;
	if (habit->life == LIFE_MOMENT)
		world_free(world, block);
	else if (habit->life == LIFE_STEP)
		world_free_at_end(world, block);
	else if (habit->life == LIFE_HELD)
		list_add(&habit->list, block);
	else
		world_free_in(world, block, draw_life(world, habit));
}

static bool is_due(struct world *world, struct habit *habit)
{
	uint32_t step = world->step;

	if (step < habit->start || (habit->stop && step >= habit->stop))
		return false;
	if (habit->on && (step - habit->start) % (habit->on + habit->off) >= habit->on)
		return false;
	if (habit->every) {
		if (step < habit->next)
			return false;
		habit->next = step + chance_between(world, habit->every - habit->jitter,
						    habit->every + habit->jitter);
	}
	return habit->chance <= 0 || chance_of(world, habit->chance);
}

static void make(struct world *world, struct habit *habit)
{
	double mean = habit->count > 0 ? habit->count : 1;
	uint32_t count;

	if (habit->ramp > 0)
		mean *= 1 + (habit->ramp - 1) * world->step / world->steps;
	count = habit->random_count ? chance_poisson(world, mean) : (uint32_t)(mean + 0.5);
	for (uint32_t i = 0; i < count; i++)
		make_one(world, habit);
}

static uint32_t held(const struct habit *habit)
{
	return habit->list.count - habit->list.first;
}

static void clear_before(struct world *world, struct habit *habit)
{
	bool clear = false;

	if (habit->hold == HOLD_EVERY)
		clear = world->step % (uint32_t)habit->a == 0;
	if (habit->hold == HOLD_CHANCE)
		clear = chance_of(world, habit->a);
	if (habit->hold == HOLD_COUNT && held(habit) >= habit->a) {
		clear = true;
		habit->a *= habit->b;
	}
	if (habit->hold == HOLD_SESSION && world->step >= habit->session_end) {
		clear = true;
		habit->session_end =
			world->step + fmin(5 * habit->a, chance_pareto(world, habit->a, habit->b));
	}
	if (clear)
		list_free_all(world, &habit->list);
}

static void evict_after(struct world *world, struct habit *habit)
{
	bool any = habit->hold == HOLD_ANY;

	if (habit->hold != HOLD_QUEUE && habit->hold != HOLD_BACKLOG && !any)
		return;
	if (habit->hold == HOLD_BACKLOG && world->step)
		habit->a += habit->b;
	while (held(habit) > habit->a)
		world_free(world, any ? list_take_any(world, &habit->list)
				      : list_take_oldest(&habit->list));
}

static void habit_step(struct world *world, struct actor *actor)
{
	struct habit *habit = actor->state;

	if (habit->life == LIFE_HELD)
		clear_before(world, habit);
	if (is_due(world, habit))
		make(world, habit);
	if (habit->life == LIFE_HELD)
		evict_after(world, habit);
}

static void habit_gone(struct actor *actor)
{
	struct habit *habit = actor->state;

	free(habit->list.blocks);
}

void habit_add(struct world *world, const struct habit *habit)
{
	struct habit *copy = malloc(sizeof(*copy));

	if (copy) {
		*copy = *habit;
		if (copy->stop != 1 && copy->start == 0)
			copy->start = 1;
	}
	world_act(world, habit_step, habit_gone, copy);
}
