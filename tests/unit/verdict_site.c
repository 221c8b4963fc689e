/* Each rule for a site, with a history made for it. */
#include <math.h>

#include "report/verdict.h"
#include "test.h"
#include "verdict_made.h"

#define EXPECT_LABEL(site, expected) EXPECT_STR(verdict_name((site).label), verdict_name(expected))

static void expect_sentence(const struct verdict_site *site, const char *expected)
{
	char sentence[VERDICT_SENTENCE];

	verdict_site_sentence(site, sentence, sizeof(sentence));
	EXPECT_STR(sentence, expected);
}

/* One block of 512 bytes stays every `every` steps from `first` to `last`; `steps` in all. */
static struct verdict_site keeps(uint32_t first, uint32_t last, uint32_t every, uint32_t steps)
{
	struct made made;

	made_init(&made);
	while (made.step <= steps) {
		if (made.step >= first && made.step <= last && (made.step - first) % every == 0)
			made_born(&made, 1, 512);
		made_mark(&made);
	}
	return made_judged(&made, NULL);
}

static void leak_each_step(void)
{
	struct verdict_site site = keeps(2, 412, 1, 412);

	EXPECT_LABEL(site, VERDICT_LEAK);
	EXPECT_U64(site.reason, VERDICT_REASON_ROUNDS);
	EXPECT_U64(site.rounds.kept, 411);
	EXPECT_U64(site.rounds.of, 411);
	EXPECT_U64(site.rounds.width, 1);
	EXPECT_U64(site.first_step, 2);
	EXPECT_U64(site.last_step, 412);
	EXPECT(site.bytes_per_step == 512 && site.bytes_per_step_spread == 0);
	EXPECT(site.confidence == 0.90 && site.bound_unknown && site.round_bytes == 512);
	expect_sentence(&site, "411 of 411 rounds kept, none ever freed");
}

/* In its 22nd step, not before. */
static void leak_too_young(void)
{
	struct verdict_site site = keeps(1, 21, 1, 21);

	EXPECT_LABEL(site, VERDICT_GROWING);
	EXPECT_U64(site.reason, VERDICT_REASON_YOUNG);
	EXPECT_U64(site.steps_missing, 1);
	expect_sentence(&site,
			"21 of 21 rounds kept, none ever freed; a verdict needs about 1 more step");
	site = keeps(1, 22, 1, 22);
	EXPECT_LABEL(site, VERDICT_LEAK);
	site = keeps(400, 500, 1, 449);
	EXPECT_LABEL(site, VERDICT_LEAK);
	site = keeps(400, 500, 1, 440);
	EXPECT_LABEL(site, VERDICT_GROWING);
}

static void leak_per_epoch(void)
{
	struct verdict_site site = keeps(50, 1000, 50, 155);

	EXPECT_LABEL(site, VERDICT_GROWING);
	EXPECT_U64(site.reason, VERDICT_REASON_EVEN);
	EXPECT_U64(site.steps_missing, 150);
	expect_sentence(&site, "3 rounds kept, once in 50 steps, none ever freed; "
			       "a verdict needs about 150 more steps");
	site = keeps(50, 1000, 50, 302);
	EXPECT_LABEL(site, VERDICT_LEAK);
	EXPECT_U64(site.period_steps, 50);
	EXPECT(site.bytes_per_step == 512.0 / 50);
	expect_sentence(&site, "6 rounds kept, once in 50 steps, none ever freed");
	site = keeps(25, 5000, 25, 1001); /* more rounds than there are entries */
	EXPECT_LABEL(site, VERDICT_LEAK);
	EXPECT_U64(site.period_steps, 25);
	EXPECT(site.bytes_per_step == 512.0 / 25);
}

/* Once in 25 steps of which every second is marked: 12 and 13 marks in turn. */
static void leak_per_epoch_of_half_marks(void)
{
	struct verdict_site site;
	struct made made;

	made_init(&made);
	while (made.step <= 150) {
		if (made.step && made.step * 2 % 25 < 2)
			made_born(&made, 1, 1000);
		made_mark(&made);
	}
	site = made_judged(&made, NULL);
	EXPECT_LABEL(site, VERDICT_LEAK);
	EXPECT(site.bytes_per_step > 79.5 && site.bytes_per_step < 80.5);
}

static void uneven_rounds(void)
{
	static const uint32_t steps[] = {3, 10, 11, 40, 44, 70, 71, 72};
	struct verdict_site site;
	struct made made;

	made_init(&made);
	for (uint32_t i = 0; made.step <= 74;) {
		if (i < 8 && made.step == steps[i]) {
			made_born(&made, 1, 512);
			i++;
		}
		made_mark(&made);
	}
	site = made_judged(&made, NULL);
	EXPECT_LABEL(site, VERDICT_GROWING);
	EXPECT_U64(site.reason, VERDICT_REASON_IRREGULAR);
}

/* One in twenty is kept, the others die in their step. */
static void one_in_twenty(void)
{
	struct verdict_site site;
	struct made made;

	made_init(&made);
	while (made.step <= 2047) {
		if (made.step)
			made_temporary(&made, 19);
		if (made.step)
			made_born(&made, 1, 4096);
		made_mark(&made);
	}
	site = made_judged(&made, NULL);
	EXPECT_LABEL(site, VERDICT_LEAK);
	EXPECT(!site.bound_unknown);
	EXPECT(site.confidence > 0.94 && site.confidence < 0.97);
	EXPECT(site.bytes_per_step == 4096);
	expect_sentence(&site, "survivors born in each of 31 stretches of 64 steps; "
			       "other blocks of this site are freed within their step");
}

static void jump_once(void)
{
	struct verdict_site site = keeps(1, 1, 1, 60);

	EXPECT_LABEL(site, VERDICT_JUMP);
	EXPECT_U64(site.reason, VERDICT_REASON_ONCE);
	EXPECT_U64(site.birth_count, 1);
	EXPECT_U64(site.births[0].first, 1);
	EXPECT(site.bytes_per_step == 0 && site.confidence == 0);
	expect_sentence(&site, "born in step 1 only");
}

static void jump_several(void)
{
	struct verdict_site site;
	struct made made;

	made_init(&made);
	while (made.step <= 600) {
		if (made.step == 1)
			made_born(&made, 3, 3 << 20);
		if (made.step == 326)
			made_born(&made, 1, 1 << 10);
		if (made.step == 441)
			made_born(&made, 1, 512);
		made_mark(&made);
	}
	site = made_judged(&made, NULL);
	EXPECT_LABEL(site, VERDICT_JUMP);
	EXPECT_U64(site.birth_count, 3);
	expect_sentence(&site,
			"born in step 1 (3.00 MiB), step 326 (1.0 KiB) and step 441 (512 B) only");
}

static void baseline_is_no_birth(void)
{
	struct verdict_site site = keeps(0, 0, 1, 60);

	EXPECT_LABEL(site, VERDICT_STABLE);
	expect_sentence(&site, "all it holds was there before step 1");
}

static void stopped(void)
{
	struct verdict_site site = keeps(1, 37, 1, 2000);

	EXPECT_LABEL(site, VERDICT_PLATEAU);
	EXPECT_U64(site.since, 37);
	expect_sentence(&site, "stopped growing 1,963 steps ago, in step 37");
}

/* In the early half in each step, in the late half in `late` of ten. */
static struct verdict_site fades(uint32_t late)
{
	struct made made;

	made_init(&made);
	while (made.step <= 1000) {
		if (made.step && (made.step <= 500 || made.step % 10 < late))
			made_born(&made, 1, 512);
		made_mark(&made);
	}
	return made_judged(&made, NULL);
}

static void fading(void)
{
	struct verdict_site site = fades(3);

	EXPECT_LABEL(site, VERDICT_PLATEAU);
	EXPECT_U64(site.reason, VERDICT_REASON_FADED);
	EXPECT(site.since >= 450 && site.since <= 550);
	site = fades(6);
	EXPECT_LABEL(site, VERDICT_GROWING);
	EXPECT_U64(site.reason, VERDICT_REASON_SLOWING);
	EXPECT(site.since >= 450 && site.since <= 550);
	site = fades(9);
	EXPECT_LABEL(site, VERDICT_LEAK);
}

/* deque(maxlen): one in, the oldest out. */
static struct verdict_site queue(uint32_t length, uint32_t steps)
{
	struct made made;

	made_init(&made);
	while (made.step <= steps) {
		if (made.step)
			made_born(&made, 1, 512);
		if (made.step > length)
			made_freed(&made, made.step - length, 512);
		made_mark(&made);
	}
	return made_judged(&made, NULL);
}

static void queues(void)
{
	struct verdict_site site = queue(1000, 600);

	EXPECT_LABEL(site, VERDICT_LEAK); /* still filling: nobody can know */
	EXPECT(site.bound_unknown);
	site = queue(1000, 1003); /* full since two steps */
	EXPECT(site.label < VERDICT_GROWING);
	site = queue(181, 224); /* full in the last fifth: nothing was ever let go of */
	EXPECT_LABEL(site, VERDICT_PLATEAU);
	EXPECT(site.since > 150 && site.since <= 181);
	site = queue(600, 1000);
	EXPECT_LABEL(site, VERDICT_PLATEAU);
	site = queue(1, 1000);
	EXPECT_LABEL(site, VERDICT_STABLE);
	expect_sentence(&site, "no block older than 1 step");
}

/* Two come in each step, one goes. */
static void backlog(void)
{
	struct verdict_site site;
	struct made made;

	made_init(&made);
	while (made.step <= 400) {
		if (made.step)
			made_born(&made, 2, 2048);
		if (made.step)
			made_freed(&made, (made.step + 1) / 2, 1024);
		made_mark(&made);
	}
	site = made_judged(&made, NULL);
	EXPECT_LABEL(site, VERDICT_GROWING);
	EXPECT(site.bytes_per_step > 1000 && site.bytes_per_step < 1050);
	expect_sentence(&site, "ever more blocks at once, each freed later than those before: "
			       "368 KiB in 368 steps");
}

/* A buffer of 100 that gives up any of its blocks: the oldest stay for long. */
static struct verdict_site shuffled(uint32_t steps)
{
	struct made made;
	uint32_t births[100];
	uint32_t draw = 1;

	made_init(&made);
	while (made.step <= steps) {
		uint32_t i = made.step - 1;

		if (made.step > 100) {
			draw = draw * 1103515245 + 12345;
			i = (draw >> 16) % 100;
			made_freed(&made, births[i], 512);
		}
		if (made.step) {
			births[i] = made.step;
			made_born(&made, 1, 512);
		}
		made_mark(&made);
	}
	return made_judged(&made, NULL);
}

static void replaced_at_random(void)
{
	struct verdict_site site = shuffled(99);

	EXPECT_LABEL(site, VERDICT_LEAK);
	site = shuffled(112);
	EXPECT_LABEL(site, VERDICT_PLATEAU);
	EXPECT_U64(site.reason, VERDICT_REASON_REPLACED);
	EXPECT(site.since >= 96 && site.since <= 104);
	site = shuffled(320);
	EXPECT_LABEL(site, VERDICT_PLATEAU);
}

/* What outlives three release ages and a step is kept, what doesn't isn't. */
static void overdue(void)
{
	struct verdict_site site;
	struct made made;

	for (uint32_t age = 40; age <= 42; age++) {
		made_init(&made);
		while (made.step <= 200) {
			if (made.step == 200 - age)
				made_born(&made, 1, 4096);
			if (made.step)
				made_born(&made, 1, 512);
			if (made.step > 13)
				made_freed(&made, made.step - 13, 512);
			made_mark(&made);
		}
		site = made_judged(&made, NULL);
		EXPECT_U64(site.release_age, 13);
		EXPECT(site.overdue_age == 40);
		if (age < 40)
			EXPECT(site.label < VERDICT_JUMP);
		else
			EXPECT_LABEL(site, VERDICT_JUMP);
	}
}

/* A table, made anew now and then: the last one wasn't born out of nothing. */
static void renewed(void)
{
	struct verdict_site site;
	struct made made;

	made_init(&made);
	while (made.step <= 200) {
		if (made.step == 5)
			made_born(&made, 1, 1 << 20);
		if (made.step == 58) {
			made_freed(&made, 5, 1 << 20);
			made_born(&made, 1, 2 << 20);
		}
		made_mark(&made);
	}
	site = made_judged(&made, NULL);
	EXPECT_LABEL(site, VERDICT_PLATEAU);
	expect_sentence(&site, "renewed in step 58; what it held before was given back");
}

/* A leak that begins in the baseline isn't taken for one with another period. */
static void leak_from_the_baseline(void)
{
	struct verdict_site site = keeps(0, 1000, 20, 1000);
	struct made made;

	EXPECT_LABEL(site, VERDICT_LEAK);
	EXPECT_U64(site.rounds.kept, 50);
	EXPECT(site.bytes_per_step > 24.5 && site.bytes_per_step < 26.7);
	site = keeps(0, 1000, 1, 79);
	expect_sentence(&site, "79 of 79 rounds kept, none ever freed");
	made_init(&made);
	while (made.step <= 150) {
		if (made.step != 1)
			made_born(&made, 1, 512);
		made_mark(&made);
	}
	site = made_judged(&made, NULL);
	EXPECT_U64(site.first_step, 2);
	expect_sentence(&site, "149 of 149 rounds kept, none ever freed");
}

static void varies(void)
{
	struct verdict_site site;
	struct made made;
	uint64_t bytes = 0;

	made_init(&made);
	while (made.step <= 100) {
		if (made.step > 1)
			made_freed(&made, made.step - 1, bytes);
		bytes = 1000000 + made.step * 7919 % 500000;
		if (made.step)
			made_born(&made, 1, bytes);
		made_mark(&made);
	}
	site = made_judged(&made, NULL);
	EXPECT_LABEL(site, VERDICT_NOISY);
	EXPECT_U64(site.max_age, 1);
}

/* x = torch.cat([x, new]), from that step on */
static struct verdict_site swells(uint32_t from, uint64_t first, uint64_t more,
				  const struct verdict_timeline *timeline)
{
	struct made made;
	uint64_t bytes = first;

	made_init(&made);
	while (made.step <= 320) {
		if (made.step > from) {
			made_freed(&made, made.step - 1, bytes);
			bytes += more;
		}
		if (made.step >= from)
			made_born(&made, 1, bytes);
		made_mark(&made);
	}
	return made_judged(&made, timeline);
}

static void swelling(void)
{
	struct verdict_timeline flat = {.demand_first = 1e8,
					.demand_last = 1e8,
					.demand_growth = 1,
					.floor_growth = INFINITY};
	struct verdict_timeline grows = {.demand_first = 1e8,
					 .demand_last = 6e8,
					 .demand_growth = 6,
					 .demand_tau = 1,
					 .floor_growth = 1e6};
	struct verdict_timeline hidden = {.demand_first = 6e8,
					  .demand_last = 3e8,
					  .demand_growth = 0.5,
					  .demand_swing = 1e8,
					  .floor_growth = 1e6};
	struct verdict_site site = swells(1, 4096, 4096, &flat);

	EXPECT_LABEL(site, VERDICT_LEAK);
	EXPECT_U64(site.reason, VERDICT_REASON_SWELLING);
	EXPECT(site.bound_unknown);
	EXPECT(site.bytes_per_step > 4000 && site.bytes_per_step < 4200);
	site = swells(1, 4096, 4096, &grows); /* from nothing, far more than the demand */
	EXPECT_LABEL(site, VERDICT_LEAK);
	site = swells(0, 8 * 4096, 4096, &grows); /* a batch, which is there from the start */
	EXPECT_LABEL(site, VERDICT_WORKLOAD);
	site = swells(1, 100 * 4096, 4096, &flat);
	EXPECT_LABEL(site, VERDICT_LEAK);
	site = swells(1, 100 * 4096, 4096, &grows); /* as much as the inputs may */
	EXPECT_LABEL(site, VERDICT_WORKLOAD);
	site = swells(1, 100 * 4096, 4096, &hidden);
	EXPECT_LABEL(site, VERDICT_GROWING);
	flat.floor_growth = 0; /* somebody else gives back as much */
	site = swells(1, 4096, 4096, &flat);
	EXPECT_LABEL(site, VERDICT_WORKLOAD);
	EXPECT_U64(site.reason, VERDICT_REASON_TRADED);
}

static void nothing_kept(void)
{
	struct gpuleak_site_version version = {.allocs = 5, .frees = 5};
	struct verdict_site site;

	verdict_site(&site, &(struct verdict_site_input){.now = 100, .version = &version});
	EXPECT_LABEL(site, VERDICT_STABLE);
	expect_sentence(&site, "keeps nothing from one step to the next");
}

int main(void)
{
	leak_each_step();
	leak_too_young();
	leak_per_epoch();
	leak_per_epoch_of_half_marks();
	uneven_rounds();
	one_in_twenty();
	jump_once();
	jump_several();
	baseline_is_no_birth();
	stopped();
	fading();
	queues();
	backlog();
	replaced_at_random();
	overdue();
	renewed();
	leak_from_the_baseline();
	varies();
	swelling();
	nothing_kept();
	return test_result();
}
