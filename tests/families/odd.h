/* Actors that aren't habits. */
#ifndef GPULEAK_FAMILIES_ODD_H
#define GPULEAK_FAMILIES_ODD_H

#include "world.h"

/* x = torch.cat([x, new]) every `every` steps: one block, replaced by a larger one. */
struct swelling {
	uint32_t site;
	uint32_t start;
	uint32_t every;
	uint32_t reset; /* begins anew every so many steps; 0: never */
	double bytes;	/* of x at first */
	double more;	/* bytes of new, on average */
	bool by_length;
	uint32_t block;
	double now;
};

/* x = batch(), from step 0 on: the new one is there before the old one goes. */
void odd_inputs(struct world *world, uint32_t site, double bytes);

void odd_swelling(struct world *world, const struct swelling *swelling);

/* A cache by key: each step asks for one of `keys`, the i-th as often as 1 / i^zipf. */
struct cache {
	uint32_t site;
	uint32_t keys;
	double zipf;	   /* 0: all the same */
	uint32_t capacity; /* the least recently used goes; 0: none ever goes */
	uint32_t asks;	   /* a step */
	double bytes;
	double spread;
	uint32_t *blocks; /* owned, by key */
	uint32_t *used;	  /* owned: step of the last use */
	double *weights;  /* owned: cumulated */
	uint32_t held;
};

void odd_cache(struct world *world, const struct cache *cache);

/* One buffer for positions 0 to the longest seen, `factor` times as large when too small. */
void odd_table(struct world *world, double bytes, double factor);

/* A number of blocks that walks at random between `low` and `high`. */
void odd_walk(struct world *world, uint32_t low, uint32_t high, uint32_t stride, double bytes);

/* One block, made anew in each step with a size that remembers: AR(1). */
void odd_memory(struct world *world, double bytes, double spread, double memory);

/* Reserve that nothing can use: every `every` steps on average another `bytes`. */
void odd_fragments(struct world *world, double every, double bytes);

/* A new call stack each time, `count` of them, evenly over the run from `start` on. */
void odd_new_stacks(struct world *world, uint32_t count, uint32_t start, double bytes);

/* A block that stays, in each step with a chance of `rate` by the step's number. */
void odd_fading(struct world *world, double rate, double bytes);

/* A batch that grows until it would not fit, then is halved. */
void odd_batch(struct world *world, double bytes, uint32_t period);

#endif
