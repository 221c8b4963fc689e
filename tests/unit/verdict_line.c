/* What other sites tell of one: of its line, or that all of it is of the parameters. */
#include "report/verdict.h"
#include "test.h"
#include "verdict_made.h"

#define EXPECT_LABEL(site, expected) EXPECT_STR(verdict_name((site).label), verdict_name(expected))

/* From step `first` on each `every` steps keep a block of 512 bytes. */
static struct verdict_site judged_with(uint32_t first, uint32_t every, uint32_t steps,
				       struct verdict_site_input input)
{
	struct verdict_site site;
	struct made made;

	made_init(&made);
	while (made.step <= steps) {
		if (made.step >= first && (made.step - first) % every == 0)
			made_born(&made, 1, 512);
		made_mark(&made);
	}
	input.now = made.step - 1;
	input.version = &made.version;
	input.evidence = &made.evidence;
	input.teeth = &made.teeth;
	verdict_site(&site, &input);
	return site;
}

static struct verdict_site judged(uint32_t first, uint32_t steps, uint32_t line_release)
{
	return judged_with(first, 1, steps,
			   (struct verdict_site_input){.line_release = line_release});
}

static void waits_for_the_line(void)
{
	char sentence[VERDICT_SENTENCE];
	struct verdict_site site = judged(295, 336, 42);

	EXPECT_LABEL(judged(295, 336, 0), VERDICT_LEAK);
	EXPECT_LABEL(site, VERDICT_SAWTOOTH);
	EXPECT(site.bytes_per_step == 0);
	verdict_site_sentence(&site, sentence, sizeof(sentence));
	EXPECT_STR(sentence, "accumulates for up to 42 steps, then released; teeth of up to "
			     "21.0 KiB, between 0 B and 21.0 KiB at the marks");
}

static void but_not_for_ever(void)
{
	struct verdict_site site = judged(295, 500, 42);

	EXPECT_LABEL(site, VERDICT_LEAK);
	EXPECT(site.bytes_per_step == 512);
}

/* A layer is unfrozen each 25 steps, and the optimizer makes its state. */
static void joined(void)
{
	char sentence[VERDICT_SENTENCE];
	struct verdict_site_input none = {0}, input = {.joined = true};
	struct verdict_site site = judged_with(1, 25, 310, input);

	EXPECT_LABEL(judged_with(1, 25, 310, none), VERDICT_LEAK);
	EXPECT_LABEL(site, VERDICT_JUMP);
	verdict_site_sentence(&site, sentence, sizeof(sentence));
	EXPECT_STR(sentence, "born in 13 steps from step 1 to step 301");
	site = judged_with(1, 100, 310, input);
	verdict_site_sentence(&site, sentence, sizeof(sentence));
	EXPECT_STR(sentence, "born in step 1 (512 B), step 101 (512 B), step 201 (512 B) and "
			     "step 301 (512 B) only");
}

int main(void)
{
	joined();
	waits_for_the_line();
	but_not_for_ever();
	return test_result();
}
