#include "tracer/evidence.h"

#include <stddef.h>
#include <string.h>

#include "trace/level.h"

static uint32_t add_u32(uint32_t a, uint32_t b)
{
	return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

/* 0 for age 0, then 1 + log2(age): the classes 1, 2-3, 4-7, ... */
static uint32_t death_class(uint32_t age)
{
	uint32_t class = age ? 32 - (uint32_t)__builtin_clz(age) : 0;

	return class < GPULEAK_DEATHS ? class : GPULEAK_DEATHS - 1;
}

void evidence_init(struct gpuleak_evidence_version *evidence)
{
	memset(evidence, 0, sizeof(*evidence));
}

/*
 * Levels only change at their end, but when they widen: `into`, an earlier state of the
 * same site's, has the others already.
 */
static void copy_levels(struct gpuleak_evidence_version *into,
			const struct gpuleak_evidence_version *last)
{
	uint32_t from = into->level_count ? into->level_count - 1 : 0;
	uint32_t end =
		last->level_count > into->level_count ? last->level_count : into->level_count;

	if (into->level_shift != last->level_shift)
		from = 0;
	memcpy(&into->levels[from], &last->levels[from], (end - from) * sizeof(into->levels[0]));
}

void evidence_copy(struct gpuleak_evidence_version *into,
		   const struct gpuleak_evidence_version *last)
{
	size_t counts = offsetof(struct gpuleak_evidence_version, birth_shift);
	uint32_t births =
		last->birth_count > into->birth_count ? last->birth_count : into->birth_count;

	copy_levels(into, last);
	memcpy(into->births, last->births, births * sizeof(into->births[0]));
	memcpy((uint8_t *)into + counts, (const uint8_t *)last + counts,
	       offsetof(struct gpuleak_evidence_version, births) - counts);
}

/* Make each birth entry twice as wide; neighbours that now share a bucket become one. */
static void births_widen(struct gpuleak_evidence_version *evidence)
{
	uint32_t kept = 0;

	evidence->birth_shift++;
	for (uint32_t i = 0; i < evidence->birth_count; i++) {
		struct gpuleak_birth birth = evidence->births[i];

		birth.bucket >>= 1;
		if (kept && evidence->births[kept - 1].bucket == birth.bucket) {
			struct gpuleak_birth *last = &evidence->births[kept - 1];

			last->count = add_u32(last->count, birth.count);
			last->bytes += birth.bytes;
		} else {
			evidence->births[kept++] = birth;
		}
	}
	memset(&evidence->births[kept], 0,
	       (evidence->birth_count - kept) * sizeof(evidence->births[0]));
	evidence->birth_count = kept;
}

/* Ends: at 27 bits of shift a step of 32 bits has one of 32 buckets. */
void evidence_born(struct gpuleak_evidence_version *evidence, uint32_t step, uint32_t count,
		   uint64_t bytes)
{
	struct gpuleak_birth *last;

	for (;;) {
		last = evidence->birth_count ? &evidence->births[evidence->birth_count - 1] : NULL;
		if (last && last->bucket >= step >> evidence->birth_shift) {
			last->count = add_u32(last->count, count);
			last->bytes += bytes;
			return;
		}
		if (evidence->birth_count < GPULEAK_BIRTHS)
			break;
		births_widen(evidence);
	}
	evidence->births[evidence->birth_count++] = (struct gpuleak_birth){
		.bucket = step >> evidence->birth_shift, .count = count, .bytes = bytes};
}

/* The first entry whose bucket is not below `bucket`; birth_count when all are. */
static uint32_t birth_search(const struct gpuleak_evidence_version *evidence, uint32_t bucket)
{
	uint32_t low = 0;
	uint32_t high = evidence->birth_count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (evidence->births[middle].bucket < bucket)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void birth_remove(struct gpuleak_evidence_version *evidence, uint32_t i)
{
	evidence->birth_count--;
	memmove(&evidence->births[i], &evidence->births[i + 1],
		(evidence->birth_count - i) * sizeof(evidence->births[0]));
	memset(&evidence->births[evidence->birth_count], 0, sizeof(evidence->births[0]));
}

/* The entry that holds the blocks born in `birth`, or birth_count. */
static uint32_t birth_find(const struct gpuleak_evidence_version *evidence, uint32_t birth)
{
	uint32_t bucket = birth >> evidence->birth_shift;
	uint32_t i = birth_search(evidence, bucket);

	if (i < evidence->birth_count && evidence->births[i].bucket != bucket)
		return evidence->birth_count;
	return i;
}

void evidence_resized(struct gpuleak_evidence_version *evidence, uint32_t birth, uint64_t before,
		      uint64_t after)
{
	uint32_t i = birth_find(evidence, birth);

	if (i < evidence->birth_count)
		evidence->births[i].bytes += after - before;
}

void evidence_died(struct gpuleak_evidence_version *evidence, uint32_t birth, uint32_t now,
		   uint64_t bytes)
{
	uint32_t class = death_class(now > birth ? now - birth : 0);
	uint32_t i = birth_find(evidence, birth);
	struct gpuleak_birth *entry = &evidence->births[i];

	evidence->deaths[class] = add_u32(evidence->deaths[class], 1);
	if (i == evidence->birth_count)
		return;
	if (entry->count <= 1) {
		birth_remove(evidence, i);
		return;
	}
	entry->count--;
	entry->bytes -= bytes < entry->bytes ? bytes : entry->bytes;
}

void evidence_temporary(struct gpuleak_evidence_version *evidence, uint32_t count)
{
	evidence->deaths[0] = add_u32(evidence->deaths[0], count);
}

static struct gpuleak_level level_of(struct evidence_level value)
{
	return (struct gpuleak_level){.min_bytes = value.bytes,
				      .max_bytes = value.bytes,
				      .min_blocks = value.blocks,
				      .max_blocks = value.blocks};
}

static void levels_widen(struct gpuleak_evidence_version *evidence)
{
	uint32_t kept = (evidence->level_count + 1) / 2;

	evidence->level_shift++;
	for (uint32_t i = 0; i < evidence->level_count; i++) {
		if (i % 2)
			level_join(&evidence->levels[i / 2], &evidence->levels[i]);
		else
			evidence->levels[i / 2] = evidence->levels[i];
	}
	memset(&evidence->levels[kept], 0,
	       (evidence->level_count - kept) * sizeof(evidence->levels[0]));
	evidence->level_count = kept;
}

/*
 * A bucket that an earlier call opened holds `before` already, since that call's
 * `after` is this one's `before`; only new buckets are filled with it.
 */
void evidence_level(struct gpuleak_evidence_version *evidence, uint32_t step,
		    struct evidence_level before, struct evidence_level after)
{
	struct gpuleak_level old = level_of(before);
	struct gpuleak_level new = level_of(after);
	uint32_t bucket;

	while (step >> evidence->level_shift >= GPULEAK_LEVELS)
		levels_widen(evidence);
	bucket = step >> evidence->level_shift;
	while (evidence->level_count < bucket)
		evidence->levels[evidence->level_count++] = old;
	if (evidence->level_count > bucket) {
		level_join(&evidence->levels[bucket], &new);
		return;
	}
	evidence->levels[bucket] = new;
	evidence->level_count++;
	if (step & ((1u << evidence->level_shift) - 1))
		level_join(&evidence->levels[bucket], &old);
}
