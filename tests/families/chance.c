/* Random numbers: splitmix64 and what follows from it. */
#include <math.h>

#include "world.h"

static uint64_t draw(struct world *world)
{
	uint64_t x = world->random += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

/* In 0 (excluded) to 1. */
static double fraction(struct world *world)
{
	return (double)((draw(world) >> 11) + 1) * 0x1p-53;
}

double chance_uniform(struct world *world, double low, double high)
{
	return low + (high - low) * fraction(world);
}

double chance_log(struct world *world, double low, double high)
{
	return high > low ? exp(chance_uniform(world, log(low), log(high))) : low;
}

uint32_t chance_between(struct world *world, uint32_t low, uint32_t high)
{
	return high > low ? low + (uint32_t)(draw(world) % (high - low + 1)) : low;
}

bool chance_of(struct world *world, double probability)
{
	return fraction(world) <= probability;
}

double chance_normal(struct world *world)
{
	return sqrt(-2 * log(fraction(world))) * cos(2 * M_PI * fraction(world));
}

double chance_pareto(struct world *world, double least, double alpha)
{
	return least * pow(fraction(world), -1 / alpha);
}

uint32_t chance_poisson(struct world *world, double mean)
{
	double limit = exp(-mean);
	double product = fraction(world);
	uint32_t count = 0;

	if (mean > 50)
		return (uint32_t)fmax(0, mean + sqrt(mean) * chance_normal(world) + 0.5);
	for (; product > limit; product *= fraction(world))
		count++;
	return count;
}
