/*
 * The online statistics against a model that forgets nothing: random histories,
 * compared at every mark.
 */
#include <stdlib.h>

#include "test.h"
#include "tracer/evidence.h"

enum {
	BLOCKS_MAX = 4096,
	STEPS_MAX = 1500,
};

struct block {
	uint32_t birth;
	uint64_t bytes;
};

/* All that ever happened to one site. */
struct model {
	struct block alive[BLOCKS_MAX];
	uint32_t count;
	uint64_t bytes;
	uint32_t deaths[GPULEAK_DEATHS];
	struct evidence_level levels[STEPS_MAX];
	struct evidence_level told; /* the level of the last call */
};

/* How a history behaves. */
struct habits {
	uint32_t born;	    /* blocks a step, at most */
	uint32_t every;	    /* steps between births */
	uint32_t die;	    /* of 1000 blocks, a step */
	uint32_t clear;	    /* of 1000 steps, in which all dies */
	uint32_t temporary; /* blocks a step, at most */
};

static uint64_t state;

/* splitmix64 */
static uint32_t random_below(uint32_t bound)
{
	uint64_t x = state += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	x ^= x >> 31;
	return bound ? (uint32_t)(x >> 32) % bound : 0;
}

static uint32_t class_of(uint32_t age)
{
	uint32_t class = 0;

	for (; age; age >>= 1)
		class ++;
	return class;
}

static void model_kill(struct model *model, struct gpuleak_evidence_version *evidence, uint32_t i,
		       uint32_t now)
{
	struct block *block = &model->alive[i];

	model->deaths[class_of(now - block->birth)]++;
	model->bytes -= block->bytes;
	evidence_died(evidence, block->birth, now, block->bytes);
	*block = model->alive[--model->count];
}

static void model_step(struct model *model, struct gpuleak_evidence_version *evidence,
		       uint32_t step, const struct habits *habits)
{
	bool clear = random_below(1000) < habits->clear;
	uint32_t born = step % habits->every ? 0 : random_below(habits->born + 1);
	uint32_t temporary = random_below(habits->temporary + 1);
	uint64_t bytes = 0;

	for (uint32_t i = model->count; i-- > 0;)
		if (clear || random_below(1000) < habits->die)
			model_kill(model, evidence, i, step);
	if (model->count + born > BLOCKS_MAX)
		born = BLOCKS_MAX - model->count;
	for (uint32_t i = 0; i < born; i++) {
		struct block block = {.birth = step, .bytes = 512 + random_below(1 << 20)};

		model->alive[model->count++] = block;
		model->bytes += block.bytes;
		bytes += block.bytes;
	}
	if (born)
		evidence_born(evidence, step, born, bytes);
	evidence_temporary(evidence, temporary);
	model->deaths[0] += temporary;
}

static void model_mark(struct model *model, struct gpuleak_evidence_version *evidence,
		       uint32_t step)
{
	struct evidence_level level = {.bytes = model->bytes, .blocks = model->count};

	model->levels[step] = level;
	if (level.bytes == model->told.bytes && level.blocks == model->told.blocks)
		return;
	evidence_level(evidence, step, model->told, level);
	model->told = level;
}

static void check_births(const struct model *model, const struct gpuleak_evidence_version *evidence)
{
	uint32_t blocks = 0;

	EXPECT(evidence->birth_count <= GPULEAK_BIRTHS);
	for (uint32_t i = 0; i < evidence->birth_count; i++) {
		const struct gpuleak_birth *birth = &evidence->births[i];
		struct gpuleak_birth sum = {.bucket = birth->bucket};

		EXPECT(i == 0 || evidence->births[i - 1].bucket < birth->bucket);
		for (uint32_t j = 0; j < model->count; j++) {
			if (model->alive[j].birth >> evidence->birth_shift != birth->bucket)
				continue;
			sum.count++;
			sum.bytes += model->alive[j].bytes;
		}
		EXPECT(birth->count > 0);
		EXPECT_U64(birth->count, sum.count);
		EXPECT_U64(birth->bytes, sum.bytes);
		blocks += birth->count;
	}
	EXPECT_U64(blocks, model->count);
}

static void check_deaths(const struct model *model, const struct gpuleak_evidence_version *evidence)
{
	for (uint32_t i = 0; i < GPULEAK_DEATHS; i++)
		EXPECT_U64(evidence->deaths[i], model->deaths[i]);
}

static void check_level(const struct model *model, const struct gpuleak_level *level,
			uint32_t first, uint32_t end)
{
	struct gpuleak_level sum = {.min_bytes = UINT64_MAX, .min_blocks = UINT32_MAX};

	for (uint32_t step = first; step < end; step++) {
		const struct evidence_level *one = &model->levels[step];

		sum.min_bytes = one->bytes < sum.min_bytes ? one->bytes : sum.min_bytes;
		sum.max_bytes = one->bytes > sum.max_bytes ? one->bytes : sum.max_bytes;
		sum.min_blocks = one->blocks < sum.min_blocks ? one->blocks : sum.min_blocks;
		sum.max_blocks = one->blocks > sum.max_blocks ? one->blocks : sum.max_blocks;
	}
	EXPECT_U64(level->min_bytes, sum.min_bytes);
	EXPECT_U64(level->max_bytes, sum.max_bytes);
	EXPECT_U64(level->min_blocks, sum.min_blocks);
	EXPECT_U64(level->max_blocks, sum.max_blocks);
}

/* Marks after the last call had its level, so a bucket is right even when it isn't full. */
static void check_levels(const struct model *model, const struct gpuleak_evidence_version *evidence,
			 uint32_t step)
{
	EXPECT(evidence->level_count <= GPULEAK_LEVELS);
	for (uint32_t i = 0; i < evidence->level_count; i++) {
		uint32_t first = i << evidence->level_shift;
		uint32_t end = (i + 1) << evidence->level_shift;

		check_level(model, &evidence->levels[i], first, end <= step ? end : step + 1);
	}
	for (uint32_t i = evidence->level_count << evidence->level_shift; i <= step; i++)
		EXPECT_U64(model->levels[i].bytes, model->told.bytes);
}

static void history(uint64_t seed)
{
	static struct model model;
	struct gpuleak_evidence_version evidence;
	struct habits habits;
	uint32_t steps;

	state = seed;
	memset(&model, 0, sizeof(model));
	evidence_init(&evidence);
	steps = 1 + random_below(STEPS_MAX);
	habits = (struct habits){.born = 1 + random_below(6),
				 .every = 1 + random_below(random_below(2) ? 1 : 60),
				 .die = random_below(2) ? random_below(100) : 0,
				 .clear = random_below(2) ? random_below(10) : 0,
				 .temporary = random_below(3)};
	for (uint32_t step = 0; step < steps; step++) {
		model_step(&model, &evidence, step, &habits);
		model_mark(&model, &evidence, step);
		check_births(&model, &evidence);
		if (step % 16 == 0 || step + 1 == steps) {
			check_deaths(&model, &evidence);
			check_levels(&model, &evidence, step);
		}
		if (test_failures) {
			fprintf(stderr, "seed %" PRIu64 ", step %u\n", seed, step);
			return;
		}
	}
}

/* Up to 32 distinct birth steps are told apart, however far apart they are. */
static void exact_while_few(void)
{
	struct gpuleak_evidence_version evidence;

	evidence_init(&evidence);
	for (uint32_t i = 0; i < GPULEAK_BIRTHS; i++)
		evidence_born(&evidence, i * 100000, 1, 512);
	EXPECT_U64(evidence.birth_shift, 0);
	EXPECT_U64(evidence.birth_count, GPULEAK_BIRTHS);
	evidence_born(&evidence, GPULEAK_BIRTHS * 100000, 1, 512);
	EXPECT_U64(evidence.birth_shift, 17);
	EXPECT(evidence.birth_count >= GPULEAK_BIRTHS / 2);
}

/* The highest steps there are, and calls that no ledger makes. */
static void edges(void)
{
	struct gpuleak_evidence_version evidence;
	struct evidence_level none = {.bytes = 0};
	struct evidence_level much = {.bytes = UINT64_MAX, .blocks = UINT32_MAX};

	evidence_init(&evidence);
	for (uint32_t i = 0; i < 100; i++)
		evidence_born(&evidence, UINT32_MAX - 200 + 2 * i, UINT32_MAX, 1);
	evidence_born(&evidence, 5, 1, 1);
	evidence_died(&evidence, 5, 7, 1);
	evidence_died(&evidence, 9, 7, UINT64_MAX);
	evidence_level(&evidence, UINT32_MAX, none, much);
	evidence_level(&evidence, 3, much, none);
	EXPECT(evidence.birth_count <= GPULEAK_BIRTHS);
	EXPECT_U64(evidence.level_count, GPULEAK_LEVELS);
	evidence_temporary(&evidence, UINT32_MAX);
	evidence_temporary(&evidence, 1);
	EXPECT_U64(evidence.deaths[0], UINT32_MAX);
}

int main(void)
{
	for (uint64_t seed = 0; seed < 200; seed++)
		history(seed);
	exact_while_few();
	edges();
	return test_result();
}
