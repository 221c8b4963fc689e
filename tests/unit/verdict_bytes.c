/*
 * Any bytes as statistics: the engine ends, stays within its types (run it under
 * -fsanitize=address,undefined) and says something sound.  Bytes at random, and sound
 * statistics with a few fields overwritten.
 */
#include <math.h>
#include <stdlib.h>

#include "report/verdict.h"
#include "test.h"
#include "verdict_made.h"

enum {
	ROUNDS = 60000,
	SITES = 40,
	ENTRIES = 70,
};

static uint64_t state = 1;

static uint64_t draw(void)
{
	uint64_t x = state += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

/* A number near an edge of its type, or small, or any. */
static uint64_t odd_number(void)
{
	static const uint64_t edges[] = {0,
					 1,
					 2,
					 31,
					 32,
					 0x7fffffff,
					 0x80000000,
					 0xfffffffe,
					 0xffffffff,
					 0x100000000,
					 INT64_MAX,
					 UINT64_MAX,
					 UINT64_MAX - 1};

	switch (draw() % 3) {
	case 0:
		return edges[draw() % (sizeof(edges) / sizeof(edges[0]))];
	case 1:
		return draw() % 5000;
	default:
		return draw();
	}
}

static void fill(void *bytes, size_t size)
{
	uint8_t *byte = bytes;

	for (size_t i = 0; i < size; i++)
		byte[i] = (uint8_t)draw();
}

/* Overwrite some of its 4-byte words. */
static void scratch(void *bytes, size_t size)
{
	uint32_t *words = bytes;

	for (uint64_t i = draw() % 6; i > 0; i--)
		words[draw() % (size / 4)] = (uint32_t)odd_number();
}

static void check_number(double number)
{
	EXPECT(isfinite(number) && number >= 0);
}

static void check_site(const struct verdict_site *site)
{
	char sentence[VERDICT_SENTENCE];
	size_t length = verdict_site_sentence(site, sentence, sizeof(sentence));

	EXPECT(length > 0 && length < sizeof(sentence));
	EXPECT((unsigned)site->label < VERDICT_COUNT);
	EXPECT((unsigned)site->reason < VERDICT_REASON_COUNT);
	EXPECT(site->rounds.kept <= site->rounds.of);
	EXPECT(site->birth_count <= VERDICT_BIRTHS);
	EXPECT(site->freed_by <= VERDICT_FREER_BOTH);
	EXPECT(site->shortest_tooth <= site->longest_tooth);
	EXPECT(site->confidence >= 0 && site->confidence <= 0.99);
	check_number(site->bytes_per_step);
	check_number(site->bytes_per_step_spread);
	check_number(site->late_ratio);
}

static void check_device(const struct verdict_device *device)
{
	char sentence[VERDICT_SENTENCE];
	size_t length = verdict_device_sentence(device, sentence, sizeof(sentence));

	EXPECT(length > 0 && length < sizeof(sentence));
	EXPECT((unsigned)device->label < VERDICT_COUNT);
	check_number(device->bytes_per_step);
	check_number(device->bytes_per_step_low);
	check_number(device->full_in_seconds);
	EXPECT(device->full_at_step == 0 || device->full_at_step >= device->now);
}

/* A sentence cut anywhere is ended, and its length is that of the whole. */
static void check_cuts(const struct verdict_site *site)
{
	char whole[VERDICT_SENTENCE], part[VERDICT_SENTENCE];
	size_t length = verdict_site_sentence(site, whole, sizeof(whole));

	for (size_t size = 0; size <= length + 1 && size < sizeof(part); size += 7) {
		memset(part, 'x', sizeof(part));
		EXPECT_U64(verdict_site_sentence(site, part, size), length);
		EXPECT(size == 0 || strlen(part) < size);
		EXPECT(part[size] == 'x');
		EXPECT(size == 0 || memcmp(part, whole, strlen(part)) == 0);
	}
}

/* A site that leaks, queues or jumps; sound so far. */
static void make_sound(struct made *made)
{
	uint32_t steps = (uint32_t)(draw() % 300);
	uint32_t every = 1 + (uint32_t)(draw() % 20);
	uint32_t life = (uint32_t)(draw() % 60);

	made_init(made);
	while (made->step <= steps) {
		if (made->step % every == 0)
			made_born(made, 1, 512);
		if (life && made->step >= life && (made->step - life) % every == 0)
			made_freed(made, made->step - life, 512);
		made_mark(made);
	}
}

static void one_round(struct verdict_site *site, const struct verdict_timeline *timeline)
{
	struct made made;

	make_sound(&made);
	if (draw() % 3 == 0) {
		fill(&made.version, sizeof(made.version));
		fill(&made.evidence, sizeof(made.evidence));
		fill(&made.teeth, sizeof(made.teeth));
	} else {
		scratch(&made.version, sizeof(made.version));
		scratch(&made.evidence, sizeof(made.evidence));
		scratch(&made.teeth, sizeof(made.teeth));
	}
	verdict_site(site,
		     &(struct verdict_site_input){.now = draw() % 2 ? made.step : odd_number(),
						  .version = &made.version,
						  .evidence = draw() % 50 ? &made.evidence : NULL,
						  .teeth = draw() % 10 ? &made.teeth : NULL,
						  .collections = draw() % 2,
						  .timeline = draw() % 5 ? timeline : NULL});
	check_site(site);
}

static void make_timeline(struct verdict_timeline *timeline)
{
	struct gpuleak_timeline_entry entries[ENTRIES];
	size_t count = draw() % (ENTRIES + 1);

	fill(entries, sizeof(entries));
	for (size_t i = 0; i < count; i++) {
		entries[i].first_step = entries[i].last_step = (uint32_t)i + 1;
		if (draw() % 2)
			entries[i].peak = entries[i].trough + (draw() >> draw() % 64);
		scratch(&entries[i], draw() % 8 ? 4 : sizeof(entries[i]));
		if (draw() % 30)
			entries[i].first_step = (uint32_t)i + 1;
	}
	verdict_timeline(timeline, entries, count);
	check_number(timeline->demand_growth);
	check_number(timeline->seconds_per_step);
}

int main(void)
{
	static struct verdict_site sites[SITES];
	struct verdict_timeline timeline = {.demand_growth = 1};
	struct verdict_device device;

	for (int i = 0; i < ROUNDS && !test_failures; i++) {
		one_round(&sites[i % SITES], &timeline);
		if (i % SITES)
			continue;
		check_cuts(&sites[0]);
		verdict_device(&device, &(struct verdict_device_input){.now = odd_number(),
								       .peak = odd_number(),
								       .capacity = odd_number(),
								       .others = odd_number(),
								       .timeline = &timeline,
								       .sites = sites,
								       .site_count = SITES});
		check_device(&device);
		make_timeline(&timeline);
	}
	return test_result();
}
