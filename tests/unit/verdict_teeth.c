/* SAWTOOTH: the period as it was measured, the height, and who frees what piles up. */
#include "report/verdict.h"
#include "test.h"
#include "verdict_made.h"

enum {
	MIB = 1 << 20
};

/* One block a step; in each step of which `released` is true all older ones go. */
static void saw(struct made *made, bool (*released)(uint32_t step), uint32_t steps)
{
	uint32_t oldest = 1;

	made_init(made);
	while (made->step <= steps) {
		if (made->step && released(made->step))
			while (oldest < made->step)
				made_freed(made, oldest++, MIB);
		if (made->step)
			made_born(made, 1, MIB);
		made_mark(made);
	}
}

static bool every_40(uint32_t step)
{
	return step % 40 == 0;
}

static bool uneven(uint32_t step)
{
	return step % 50 == 0 || step % 50 == 23;
}

static bool late(uint32_t step)
{
	return step == 60 || step == 120;
}

static void expect_evidence(const struct verdict_site *site, const char *wanted)
{
	char sentence[VERDICT_SENTENCE];

	verdict_site_sentence(site, sentence, sizeof(sentence));
	EXPECT_STR(sentence, wanted);
}

static void even_teeth(void)
{
	struct verdict_site site;
	struct made made;

	saw(&made, every_40, 420);
	site = made_judged(&made, NULL);
	EXPECT_U64(site.label, VERDICT_SAWTOOTH);
	EXPECT_U64(site.period_steps, 40);
	EXPECT_U64(site.swing, 39 << 20);
	EXPECT_U64(site.freed_by, VERDICT_FREER_PROGRAM);
	expect_evidence(&site, "accumulates and is released every 40 steps; teeth of up to 39.0 "
			       "MiB, between 1.00 MiB and 40.0 MiB at the marks");
}

static void uneven_teeth(void)
{
	struct verdict_site site;
	struct made made;

	saw(&made, uneven, 420);
	site = made_judged(&made, NULL);
	EXPECT_U64(site.period_steps, 25);
	expect_evidence(&site, "accumulates and is released every 23 to 27 steps; teeth of up to "
			       "26.0 MiB, between 1.00 MiB and 27.0 MiB at the marks");
}

/* Two teeth, or none counted, say what bounds them and no period. */
static void too_few_teeth(void)
{
	const char *sentence = "accumulates for up to 60 steps, then released; teeth of up to 59.0 "
			       "MiB, between 1.00 MiB and 60.0 MiB at the marks";
	struct verdict_site site;
	struct made made;

	saw(&made, late, 170);
	site = made_judged(&made, NULL);
	EXPECT_U64(site.label, VERDICT_SAWTOOTH);
	EXPECT_U64(site.period_steps, 0);
	expect_evidence(&site, sentence);
	saw(&made, every_40, 420);
	made.teeth = (struct gpuleak_teeth){0};
	site = made_judged(&made, NULL);
	EXPECT_U64(site.period_steps, 0);
}

/* A period of ripples isn't that of a swing which came once. */
static void ripples_aside(void)
{
	struct verdict_site site;
	struct made made;

	saw(&made, every_40, 420);
	made.teeth.tallest = 19;
	site = made_judged(&made, NULL);
	EXPECT_U64(site.period_steps, 0);
	made.teeth.tallest = 20;
	site = made_judged(&made, NULL);
	EXPECT_U64(site.period_steps, 40);
}

static enum verdict_freer freed_by(uint32_t collected, uint32_t deaths)
{
	struct made made;

	made_init(&made);
	while (made.step < 100) {
		if (made.step > 3 && made.step <= 3 + deaths)
			made_freed(&made, made.step - 3, MIB);
		if (made.step)
			made_born(&made, 1, MIB);
		made_mark(&made);
	}
	made.teeth.collected = collected;
	return made_judged(&made, NULL).freed_by;
}

static void freers(void)
{
	EXPECT_U64(freed_by(0, 0), VERDICT_FREER_UNKNOWN);
	EXPECT_U64(freed_by(0, 20), VERDICT_FREER_PROGRAM);
	EXPECT_U64(freed_by(2, 20), VERDICT_FREER_PROGRAM);
	EXPECT_U64(freed_by(3, 20), VERDICT_FREER_BOTH);
	EXPECT_U64(freed_by(17, 20), VERDICT_FREER_BOTH);
	EXPECT_U64(freed_by(18, 20), VERDICT_FREER_COLLECTOR);
	EXPECT_U64(freed_by(20, 20), VERDICT_FREER_COLLECTOR);
}

static void says_who_frees(void)
{
	const char *end = " at the marks; Python's gc frees it";
	char sentence[VERDICT_SENTENCE];
	struct verdict_site site;
	struct made made;

	saw(&made, every_40, 420);
	made.teeth.collected = 399;
	site = made_judged(&made, NULL);
	verdict_site_sentence(&site, sentence, sizeof(sentence));
	EXPECT_STR(strstr(sentence, " at the marks"), end);
	made.teeth.collected = 200;
	site = made_judged(&made, NULL);
	verdict_site_sentence(&site, sentence, sizeof(sentence));
	EXPECT_STR(strstr(sentence, " at the marks"),
		   " at the marks; Python's gc frees a part of it");
}

/* An older trace counted no collections: then nothing is said. */
static void unknown_without_a_count(void)
{
	struct verdict_site site;
	struct made made;

	saw(&made, every_40, 420);
	verdict_site(&site, &(struct verdict_site_input){.now = 420,
							 .version = &made.version,
							 .evidence = &made.evidence,
							 .teeth = &made.teeth});
	EXPECT_U64(site.period_steps, 40);
	EXPECT_U64(site.freed_by, VERDICT_FREER_UNKNOWN);
	verdict_site(&site, &(struct verdict_site_input){.now = 420,
							 .version = &made.version,
							 .evidence = &made.evidence});
	EXPECT_U64(site.label, VERDICT_SAWTOOTH);
	EXPECT_U64(site.period_steps, 0);
}

int main(void)
{
	even_teeth();
	uneven_teeth();
	too_few_teeth();
	ripples_aside();
	freers();
	says_who_frees();
	unknown_without_a_count();
	return test_result();
}
