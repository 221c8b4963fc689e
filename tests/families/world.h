/*
 * A simulated training: call stacks that allocate and free blocks, step after step.
 * What it does is told to a sink, which may be a model of the tracer or the tracer.
 *
 * A history is made of actors.  An actor is called once a step, step 0 (before
 * training) among them, and allocates and frees on one site or more.
 */
#ifndef GPULEAK_FAMILIES_WORLD_H
#define GPULEAK_FAMILIES_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "report/verdict.h"

enum {
	WORLD_SITES = 256,
	WORLD_ACTORS = 128,
	NO_BLOCK = 0xffffffffu,
};

/* Where events go.  A block's number is free to be used again once it is freed. */
struct sink {
	void *context;
	void (*alloc)(void *context, uint32_t site, uint32_t block, uint64_t bytes);
	void (*free)(void *context, uint32_t site, uint32_t block, uint64_t bytes);
	void (*half)(void *context); /* the middle of a step; may be NULL */
	void (*mark)(void *context, uint32_t step, uint64_t reserved);
};

struct block {
	uint32_t site;
	uint32_t birth;
	uint64_t bytes;
	uint32_t next; /* in a day of the calendar, a list, or the free ones */
};

/* Blocks held together: a Python list, a deque, a reference cycle waiting for gc. */
struct list {
	uint32_t *blocks;
	uint32_t count;
	uint32_t room;
	uint32_t first; /* of a queue: the oldest */
};

struct world;

struct actor {
	void (*step)(struct world *world, struct actor *actor);
	void (*gone)(struct actor *actor); /* NULL, or gives back what the actor took */
	void *state;			   /* owned */
};

struct world {
	uint64_t random;
	struct sink sink;
	uint32_t steps;
	uint32_t step; /* the one under way */
	double length; /* of this step's inputs, by the usual one */
	double noise;  /* relative spread of `length` */
	double growth; /* of `length` over the whole run: 1 is none */
	uint32_t sites;
	bool leaks[WORLD_SITES];
	uint32_t actors;
	struct actor actor[WORLD_ACTORS];
	struct block *blocks; /* owned */
	uint32_t blocks_count, blocks_room, blocks_free;
	uint32_t *days;	      /* owned; blocks that die in a step, as lists; steps + 2 of them */
	uint32_t end_of_step; /* those that die at the end of this one */
	uint64_t allocated, peak, reserved, stranded;
	/* Truth, beside `leaks`. */
	enum verdict truth; /* the gravest that an actor stands for */
	uint32_t accepted;  /* 1 << label, of all that are right */
	bool undecidable;   /* LEAK is right too, if `bound unknown` is said */
};

void world_init(struct world *world, uint64_t seed, uint32_t steps, const struct sink *sink);
void world_run(struct world *world);
void world_release(struct world *world);

/* A call stack.  `leaks`: the truth about it. */
uint32_t world_site(struct world *world, bool leaks);

/* `state` is owned by the world from here on and freed with free(). */
void world_act(struct world *world, void (*step)(struct world *, struct actor *),
	       void (*gone)(struct actor *), void *state);

/* An actor stands for this label; `accepted`: 1 << label of others that are as right. */
void world_claim(struct world *world, enum verdict label, uint32_t accepted);

uint32_t world_alloc(struct world *world, uint32_t site, double bytes);
void world_free(struct world *world, uint32_t block);
/* Freed at the beginning of a later step; never when that is after the last one. */
void world_free_in(struct world *world, uint32_t block, double steps);
/* Freed at the end of this step, just before its mark. */
void world_free_at_end(struct world *world, uint32_t block);

void list_add(struct list *list, uint32_t block);
/* The oldest, or a random one; NO_BLOCK when empty. */
uint32_t list_take_oldest(struct list *list);
uint32_t list_take_any(struct world *world, struct list *list);
void list_free_all(struct world *world, struct list *list);

/* Chance, from the world's own seed. */
double chance_uniform(struct world *world, double low, double high);
double chance_log(struct world *world, double low, double high); /* evenly in the logarithm */
uint32_t chance_between(struct world *world, uint32_t low, uint32_t high); /* both included */
bool chance_of(struct world *world, double probability);
double chance_normal(struct world *world);
double chance_pareto(struct world *world, double least, double alpha);
uint32_t chance_poisson(struct world *world, double mean);

#endif
