#include "odd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *copy_of(const void *state, size_t size)
{
	void *copy = malloc(size);

	if (!copy)
		abort();
	return memcpy(copy, state, size);
}

static void swelling_step(struct world *world, struct actor *actor)
{
	struct swelling *x = actor->state;
	uint32_t old = x->block;

	if (world->step < x->start || (world->step - x->start) % x->every)
		return;
	if (x->reset && (world->step - x->start) % x->reset == 0)
		x->now = 0;
	x->now = x->now > 0 ? x->now + x->more * (x->by_length ? world->length : 1) : x->bytes;
	x->block = world_alloc(world, x->site, x->now);
	if (old != NO_BLOCK)
		world_free(world, old);
}

struct inputs {
	uint32_t site;
	uint32_t block;
	double bytes;
};

static void inputs_step(struct world *world, struct actor *actor)
{
	struct inputs *x = actor->state;
	uint32_t old = x->block;

	x->block = world_alloc(world, x->site, x->bytes * world->length);
	if (old != NO_BLOCK)
		world_free(world, old);
}

void odd_inputs(struct world *world, uint32_t site, double bytes)
{
	struct inputs inputs = {.site = site, .block = NO_BLOCK, .bytes = bytes};

	world_act(world, inputs_step, NULL, copy_of(&inputs, sizeof(inputs)));
}

void odd_swelling(struct world *world, const struct swelling *swelling)
{
	struct swelling *copy = copy_of(swelling, sizeof(*copy));

	copy->block = NO_BLOCK;
	world_act(world, swelling_step, NULL, copy);
}

static uint32_t draw_key(struct world *world, const struct cache *cache)
{
	double at = chance_uniform(world, 0, cache->weights[cache->keys - 1]);
	uint32_t low = 0, high = cache->keys - 1;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (cache->weights[middle] < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void evict(struct world *world, struct cache *cache)
{
	uint32_t oldest = NO_BLOCK;

	for (uint32_t i = 0; i < cache->keys; i++)
		if (cache->blocks[i] != NO_BLOCK &&
		    (oldest == NO_BLOCK || cache->used[i] < cache->used[oldest]))
			oldest = i;
	world_free(world, cache->blocks[oldest]);
	cache->blocks[oldest] = NO_BLOCK;
	cache->held--;
}

static void ask(struct world *world, struct cache *cache)
{
	uint32_t key = draw_key(world, cache);

	cache->used[key] = world->step;
	if (cache->blocks[key] != NO_BLOCK)
		return;
	cache->blocks[key] = world_alloc(
		world, cache->site,
		cache->bytes * (1 + chance_uniform(world, -cache->spread, cache->spread)));
	cache->held++;
	if (cache->capacity && cache->held > cache->capacity)
		evict(world, cache);
}

static void cache_step(struct world *world, struct actor *actor)
{
	struct cache *cache = actor->state;

	for (uint32_t i = 0; world->step && i < cache->asks; i++)
		ask(world, cache);
}

static void cache_gone(struct actor *actor)
{
	struct cache *cache = actor->state;

	free(cache->blocks);
	free(cache->used);
	free(cache->weights);
}

void odd_cache(struct world *world, const struct cache *cache)
{
	struct cache *copy = copy_of(cache, sizeof(*copy));
	double sum = 0;

	copy->blocks = malloc(copy->keys * sizeof(*copy->blocks));
	copy->used = calloc(copy->keys, sizeof(*copy->used));
	copy->weights = malloc(copy->keys * sizeof(*copy->weights));
	if (!copy->blocks || !copy->used || !copy->weights)
		abort();
	for (uint32_t i = 0; i < copy->keys; i++) {
		copy->blocks[i] = NO_BLOCK;
		sum += pow(i + 1, -copy->zipf);
		copy->weights[i] = sum;
	}
	world_act(world, cache_step, cache_gone, copy);
}

struct table {
	uint32_t site;
	uint32_t block;
	double bytes; /* for a length of 1 */
	double factor;
	double room;
};

static void table_step(struct world *world, struct actor *actor)
{
	struct table *table = actor->state;
	double needed = table->bytes * world->length;
	uint32_t old = table->block;

	if (world->step == 0 || needed <= table->room)
		return;
	table->room = needed * table->factor;
	table->block = world_alloc(world, table->site, table->room);
	if (old != NO_BLOCK)
		world_free(world, old);
}

void odd_table(struct world *world, double bytes, double factor)
{
	struct table table = {.site = world_site(world, false),
			      .block = NO_BLOCK,
			      .bytes = bytes,
			      .factor = factor};

	world_act(world, table_step, NULL, copy_of(&table, sizeof(table)));
}

struct walk {
	uint32_t site;
	uint32_t low, high, stride;
	double bytes;
	struct list list;
	uint32_t goal;
};

static void walk_step(struct world *world, struct actor *actor)
{
	struct walk *walk = actor->state;
	int64_t goal = (int64_t)walk->goal + chance_between(world, 0, 2 * walk->stride) -
		       (int64_t)walk->stride;

	if (world->step == 0)
		return;
	if (goal < walk->low)
		goal = walk->low;
	if (goal > walk->high)
		goal = walk->high;
	walk->goal = (uint32_t)goal;
	while (walk->list.count - walk->list.first < walk->goal)
		list_add(&walk->list, world_alloc(world, walk->site, walk->bytes));
	while (walk->list.count - walk->list.first > walk->goal)
		world_free(world, list_take_oldest(&walk->list));
}

static void walk_gone(struct actor *actor)
{
	struct walk *walk = actor->state;

	free(walk->list.blocks);
}

void odd_walk(struct world *world, uint32_t low, uint32_t high, uint32_t stride, double bytes)
{
	struct walk walk = {.site = world_site(world, false),
			    .low = low,
			    .high = high,
			    .stride = stride,
			    .bytes = bytes,
			    .goal = (low + high) / 2};

	world_act(world, walk_step, walk_gone, copy_of(&walk, sizeof(walk)));
}

struct memory {
	uint32_t site;
	uint32_t block;
	double bytes, spread, memory;
	double now;
};

static void memory_step(struct world *world, struct actor *actor)
{
	struct memory *memory = actor->state;
	uint32_t old = memory->block;

	if (world->step == 0)
		return;
	memory->now = memory->memory * memory->now +
		      sqrt(1 - memory->memory * memory->memory) * chance_normal(world);
	memory->block = world_alloc(world, memory->site,
				    memory->bytes * fmax(0.1, 1 + memory->spread * memory->now));
	if (old != NO_BLOCK)
		world_free(world, old);
}

void odd_memory(struct world *world, double bytes, double spread, double memory)
{
	struct memory one = {.site = world_site(world, false),
			     .block = NO_BLOCK,
			     .bytes = bytes,
			     .spread = spread,
			     .memory = memory};

	world_act(world, memory_step, NULL, copy_of(&one, sizeof(one)));
}

struct fragments {
	double every, bytes;
};

static void fragments_step(struct world *world, struct actor *actor)
{
	const struct fragments *fragments = actor->state;

	if (chance_of(world, 1 / fragments->every))
		world->stranded += (uint64_t)fragments->bytes;
}

void odd_fragments(struct world *world, double every, double bytes)
{
	struct fragments fragments = {.every = every, .bytes = bytes};

	world_act(world, fragments_step, NULL, copy_of(&fragments, sizeof(fragments)));
}

struct stacks {
	uint32_t first_site, count, done, start;
	double bytes;
};

static void stacks_step(struct world *world, struct actor *actor)
{
	struct stacks *stacks = actor->state;
	double span = world->steps - stacks->start;

	while (stacks->done < stacks->count &&
	       world->step >= stacks->start + (stacks->done + 0.5) * span / stacks->count)
		world_alloc(world, stacks->first_site + stacks->done++, stacks->bytes);
}

void odd_new_stacks(struct world *world, uint32_t count, uint32_t start, double bytes)
{
	struct stacks stacks = {
		.first_site = world->sites, .count = count, .start = start, .bytes = bytes};

	for (uint32_t i = 0; i < count; i++)
		world_site(world, true);
	world_act(world, stacks_step, NULL, copy_of(&stacks, sizeof(stacks)));
}

struct batch {
	uint32_t site;
	uint32_t block;
	uint32_t period;
	double bytes;
	double now;
};

static void batch_step(struct world *world, struct actor *actor)
{
	struct batch *batch = actor->state;

	if (world->step == 0)
		return;
	if (batch->block != NO_BLOCK)
		world_free(world, batch->block);
	batch->now += batch->bytes / batch->period;
	if (batch->now > 2 * batch->bytes || chance_of(world, 0.5 / batch->period))
		batch->now = batch->bytes;
	batch->block = world_alloc(world, batch->site, batch->now);
}

void odd_batch(struct world *world, double bytes, uint32_t period)
{
	struct batch batch = {.site = world_site(world, false),
			      .block = NO_BLOCK,
			      .period = period,
			      .bytes = bytes,
			      .now = bytes};

	world_act(world, batch_step, NULL, copy_of(&batch, sizeof(batch)));
}

struct fading {
	uint32_t site;
	double rate, bytes;
};

static void fading_step(struct world *world, struct actor *actor)
{
	const struct fading *fading = actor->state;

	if (world->step && chance_of(world, fading->rate / world->step))
		world_alloc(world, fading->site, fading->bytes);
}

void odd_fading(struct world *world, double rate, double bytes)
{
	struct fading fading = {.site = world_site(world, false), .rate = rate, .bytes = bytes};

	world_act(world, fading_step, NULL, copy_of(&fading, sizeof(fading)));
}
