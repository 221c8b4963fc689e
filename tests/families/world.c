#include "world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SEGMENT (2u << 20) /* bytes: what the caching allocator reserves at least */

static void *must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

void world_init(struct world *world, uint64_t seed, uint32_t steps, const struct sink *sink)
{
	*world = (struct world){.random = seed,
				.sink = *sink,
				.steps = steps,
				.length = 1,
				.growth = 1,
				.blocks_free = NO_BLOCK,
				.end_of_step = NO_BLOCK,
				.truth = VERDICT_STABLE,
				.accepted = 1 << VERDICT_STABLE};
	world->days = must(malloc((steps + 2) * sizeof(*world->days)));
	memset(world->days, 0xff, (steps + 2) * sizeof(*world->days));
}

void world_release(struct world *world)
{
	for (uint32_t i = 0; i < world->actors; i++) {
		if (world->actor[i].gone)
			world->actor[i].gone(&world->actor[i]);
		free(world->actor[i].state);
	}
	free(world->blocks);
	free(world->days);
}

uint32_t world_site(struct world *world, bool leaks)
{
	if (world->sites == WORLD_SITES)
		abort();
	world->leaks[world->sites] = leaks;
	return world->sites++;
}

void world_act(struct world *world, void (*step)(struct world *, struct actor *),
	       void (*gone)(struct actor *), void *state)
{
	if (world->actors == WORLD_ACTORS)
		abort();
	world->actor[world->actors++] =
		(struct actor){.step = step, .gone = gone, .state = must(state)};
}

/* Of several patterns the gravest names the device. */
void world_claim(struct world *world, enum verdict label, uint32_t accepted)
{
	enum verdict truth = label > world->truth ? label : world->truth;
	uint32_t above = ~((2u << truth) - 1);

	if (label == truth)
		accepted |= 1u << label;
	else
		accepted &= above;
	if (truth != world->truth)
		world->accepted &= above;
	world->accepted |= accepted;
	world->truth = truth;
}

static uint32_t block_new(struct world *world)
{
	uint32_t block = world->blocks_free;

	if (block != NO_BLOCK) {
		world->blocks_free = world->blocks[block].next;
		return block;
	}
	if (world->blocks_count == world->blocks_room) {
		world->blocks_room = world->blocks_room ? 2 * world->blocks_room : 256;
		world->blocks =
			must(realloc(world->blocks, world->blocks_room * sizeof(*world->blocks)));
	}
	return world->blocks_count++;
}

uint32_t world_alloc(struct world *world, uint32_t site, double bytes)
{
	uint32_t block = block_new(world);
	uint64_t size = (uint64_t)(fmax(bytes, 1) + 511) / 512 * 512;

	world->blocks[block] =
		(struct block){.site = site, .birth = world->step, .bytes = size, .next = NO_BLOCK};
	world->allocated += size;
	if (world->allocated > world->peak)
		world->peak = world->allocated;
	world->sink.alloc(world->sink.context, site, block, size);
	return block;
}

void world_free(struct world *world, uint32_t block)
{
	struct block *gone = &world->blocks[block];

	world->allocated -= gone->bytes;
	world->sink.free(world->sink.context, gone->site, block, gone->bytes);
	gone->next = world->blocks_free;
	world->blocks_free = block;
}

void world_free_in(struct world *world, uint32_t block, double steps)
{
	double day = world->step + fmax(1, floor(steps));

	if (day > world->steps)
		return;
	world->blocks[block].next = world->days[(uint32_t)day];
	world->days[(uint32_t)day] = block;
}

void world_free_at_end(struct world *world, uint32_t block)
{
	world->blocks[block].next = world->end_of_step;
	world->end_of_step = block;
}

static void free_chain(struct world *world, uint32_t block)
{
	while (block != NO_BLOCK) {
		uint32_t next = world->blocks[block].next;

		world_free(world, block);
		block = next;
	}
}

static void draw_length(struct world *world)
{
	double done = (double)world->step / world->steps;

	world->length = 1 + (world->growth - 1) * done;
	world->length *= fmax(0.05, 1 + world->noise * chance_uniform(world, -1, 1));
}

static void mark(struct world *world)
{
	uint64_t needed = (world->peak + SEGMENT - 1) / SEGMENT * SEGMENT;

	if (world->reserved < needed)
		world->reserved = needed;
	world->sink.mark(world->sink.context, world->step, world->reserved + world->stranded);
}

void world_run(struct world *world)
{
	for (world->step = 0; world->step <= world->steps; world->step++) {
		draw_length(world);
		free_chain(world, world->days[world->step]);
		for (uint32_t i = 0; i < world->actors; i++) {
			if (i == world->actors / 2 && world->sink.half)
				world->sink.half(world->sink.context);
			world->actor[i].step(world, &world->actor[i]);
		}
		free_chain(world, world->end_of_step);
		world->end_of_step = NO_BLOCK;
		mark(world);
	}
}

void list_add(struct list *list, uint32_t block)
{
	if (list->first && list->count == list->room) {
		memmove(list->blocks, list->blocks + list->first,
			(list->count - list->first) * sizeof(*list->blocks));
		list->count -= list->first;
		list->first = 0;
	}
	if (2 * list->count >= list->room) {
		list->room = list->room ? 2 * list->room : 16;
		list->blocks = must(realloc(list->blocks, list->room * sizeof(*list->blocks)));
	}
	list->blocks[list->count++] = block;
}

uint32_t list_take_oldest(struct list *list)
{
	return list->first == list->count ? NO_BLOCK : list->blocks[list->first++];
}

uint32_t list_take_any(struct world *world, struct list *list)
{
	uint32_t i, block;

	if (list->first == list->count)
		return NO_BLOCK;
	i = chance_between(world, list->first, list->count - 1);
	block = list->blocks[i];
	list->blocks[i] = list->blocks[--list->count];
	return block;
}

void list_free_all(struct world *world, struct list *list)
{
	while (list->first < list->count)
		world_free(world, list->blocks[list->first++]);
	list->first = list->count = 0;
}
