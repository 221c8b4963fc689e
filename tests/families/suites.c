#include "suites.h"

#include <math.h>
#include <string.h>

#include "habit.h"
#include "parts.h"

enum {
	STEPS_MAX = 20000,
	COMPOSITION_LEAST = 120, /* steps: those that every part needs */
};

uint64_t trace_seed(const char *suite, const char *family, uint64_t seed)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *suite; suite++)
		hash = (hash ^ (uint8_t)*suite) * 0x100000001b3;
	for (; *family; family++)
		hash = (hash ^ (uint8_t)*family) * 0x100000001b3;
	hash = (hash ^ seed) * 0x9e3779b97f4a7c15;
	hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93;
	return hash ^ hash >> 32;
}

uint32_t trace_steps(uint64_t seed, uint32_t least, uint32_t most)
{
	struct world world = {.random = ~seed};

	return (uint32_t)chance_log(&world, least, most + 0.99);
}

/* For others to judge: the history as events. */
static void write_events(struct scores *scores, struct score *score, uint64_t seed, uint64_t name,
			 uint32_t steps, void (*build)(struct world *, const void *),
			 const void *what)
{
	static struct world world;
	struct sink sink = events_sink(scores->events);

	if (++scores->played != scores->wanted)
		return;
	world_init(&world, seed, steps, &sink);
	build(&world, what);
	world_run(&world);
	events_truth(scores->events, &world, score->name, name);
	world_release(&world);
}

static void play(struct scores *scores, struct score *score, uint64_t seed, uint64_t name,
		 uint32_t steps, void (*build)(struct world *, const void *), const void *what)
{
	static struct world world;
	static struct ledger ledger;
	struct sink sink;

	if (scores->events) {
		write_events(scores, score, seed, name, steps, build, what);
		return;
	}
	ledger_init(&ledger);
	sink = ledger_sink(&ledger);
	world_init(&world, seed, steps, &sink);
	build(&world, what);
	world_run(&world);
	score_add(scores, score, &world, &ledger, name);
	world_release(&world);
	ledger_release(&ledger);
}

static void build_plain(struct world *world, const void *part)
{
	background_plain(world);
	((const struct part *)part)->add(world);
}

static void build_any(struct world *world, const void *part)
{
	background_any(world);
	((const struct part *)part)->add(world);
}

static void families(struct scores *scores, const struct seeds *seeds, const char *suite,
		     const struct part *parts)
{
	for (const struct part *part = parts; part->name; part++) {
		if (seeds->only && !strstr(part->name, seeds->only))
			continue;
		for (uint64_t i = seeds->first; i < seeds->first + seeds->count; i++) {
			uint64_t seed = trace_seed(suite, part->name, i);

			play(scores, scores_of(scores, suite, part->name), seed, i,
			     trace_steps(seed, part->least, STEPS_MAX),
			     i % 2 ? build_plain : build_any, part);
		}
	}
}

static void build_short(struct world *world, const void *part)
{
	build_any(world, part);
	world->truth = VERDICT_SHORT;
	world->accepted = 1 << VERDICT_SHORT;
}

/* Leaks too, but nothing can be said of them yet. */
static void short_runs(struct scores *scores, const struct seeds *seeds)
{
	static const struct part *const parts[] = {&leak_parts[0], &bounded_parts[0]};

	for (uint64_t i = seeds->first; i < seeds->first + seeds->count; i++) {
		uint64_t seed = trace_seed("families", "short", i);

		if (!seeds->only)
			play(scores, scores_of(scores, "families", "short"), seed, i,
			     trace_steps(seed, 5, 19), build_short, parts[i % 2]);
	}
}

void suite_families(struct scores *scores, const struct seeds *seeds)
{
	families(scores, seeds, "families/leak", leak_parts);
	families(scores, seeds, "families/bounded", bounded_parts);
	families(scores, seeds, "families/unclear", unclear_parts);
	families(scores, seeds, "families/bounded", alone_parts);
	short_runs(scores, seeds);
}

static uint32_t parts_count(const struct part *parts)
{
	uint32_t count = 0;

	while (parts[count].name)
		count++;
	return count;
}

static void build_composition(struct world *world, const void *leaky)
{
	background_any(world);
	for (uint32_t i = chance_between(world, 4, 12); i > 0; i--)
		bounded_parts[chance_between(world, 0, parts_count(bounded_parts) - 1)].add(world);
	if (*(const bool *)leaky)
		leak_parts[chance_between(world, 0, parts_count(leak_parts) - 1)].add(world);
}

void suite_compositions(struct scores *scores, const struct seeds *seeds)
{
	for (uint64_t i = seeds->first; i < seeds->first + seeds->count; i++) {
		bool leaky = i % 2;
		const char *name = leaky ? "leaky" : "clean";
		uint64_t seed = trace_seed("compositions", name, i);

		play(scores, scores_of(scores, "compositions", name), seed, i,
		     trace_steps(seed, COMPOSITION_LEAST, STEPS_MAX), build_composition, &leaky);
	}
}

/* When blocks come: at even times, at random, in bursts. */
static void draw_arrivals(struct world *world, struct habit *habit)
{
	switch (chance_between(world, 0, 3)) {
	case 0:
		habit->count = chance_between(world, 1, 3);
		break;
	case 1:
		habit->chance = chance_log(world, 60.0 / world->steps, 1);
		break;
	case 2:
		habit->every = (uint32_t)chance_log(world, 1, world->steps / 40.0);
		habit->count = chance_between(world, 1, 4);
		break;
	default:
		habit->chance = chance_log(world, 60.0 / world->steps, 1);
		habit->count = chance_between(world, 2, 10);
		habit->random_count = true;
		break;
	}
}

/* How long they stay: all within a fifth of the run, or with a tail that is known early. */
static void draw_law(struct world *world, struct habit *habit)
{
	double most = world->steps / 8.0;

	habit->life = (enum life)chance_between(world, LIFE_AGE, LIFE_HELD);
	habit->a = fmax(1, floor(chance_log(world, 1, most)));
	switch (habit->life) {
	case LIFE_UNIFORM:
		habit->b = habit->a + chance_log(world, 1, most);
		break;
	case LIFE_PARETO:
		habit->a = chance_log(world, 1, fmax(1, world->steps / 100.0));
		habit->b = chance_uniform(world, 1.2, 3);
		break;
	case LIFE_LOGNORMAL:
		habit->a = chance_log(world, 1, world->steps / 40.0);
		habit->b = chance_uniform(world, 0.3, 1);
		break;
	case LIFE_TWO:
		habit->b = chance_uniform(world, 0.1, 0.9);
		break;
	case LIFE_GEOMETRIC:
		habit->a = chance_log(world, 1, world->steps / 20.0);
		break;
	case LIFE_HELD:
		habit->hold = chance_of(world, 0.5) ? HOLD_EVERY : HOLD_CHANCE;
		if (habit->hold == HOLD_CHANCE)
			habit->a = chance_log(world, 30.0 / world->steps, 1);
		break;
	default:
		break;
	}
}

/* Blocks expected over the run. */
static double blocks_of(const struct world *world, const struct habit *habit)
{
	return world->steps * fmax(habit->count, 1) * (habit->chance > 0 ? habit->chance : 1) /
	       (habit->every ? habit->every : 1);
}

static double rounds_of(const struct world *world, const struct habit *habit)
{
	return world->steps * (habit->chance > 0 ? habit->chance : 1) /
	       (habit->every ? habit->every : 1);
}

static void build_renewal(struct world *world, const void *leaky)
{
	for (uint32_t i = chance_between(world, 4, 20); i > 0; i--) {
		bool leaks = *(const bool *)leaky && i == 1;
		struct habit habit = {
			.site = world_site(world, leaks), .bytes = any_size(world), .spread = 0.3};

		draw_arrivals(world, &habit);
		draw_law(world, &habit);
		if (leaks) {
			double least =
				25 / fmin(blocks_of(world, &habit), 4 * rounds_of(world, &habit));

			habit.keep = chance_log(world, fmin(1, fmax(0.02, least)), 1);
			world_claim(world, VERDICT_LEAK, 0);
		}
		habit_add(world, &habit);
	}
	if (world->truth != VERDICT_LEAK)
		world->accepted = ~(1u << VERDICT_LEAK);
}

void suite_renewal(struct scores *scores, const struct seeds *seeds)
{
	for (uint64_t i = seeds->first; i < seeds->first + seeds->count; i++) {
		bool leaky = i % 2;
		const char *name = leaky ? "leaky" : "clean";
		uint64_t seed = trace_seed("renewal", name, i);

		play(scores, scores_of(scores, "renewal", name), seed, i,
		     trace_steps(seed, 200, 5000), build_renewal, &leaky);
	}
}
