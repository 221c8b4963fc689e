/* A site of a line whose earlier call stacks gave back all that they had piled up. */
#include "report/verdict.h"
#include "test.h"
#include "verdict_made.h"

#define EXPECT_LABEL(site, expected) EXPECT_STR(verdict_name((site).label), verdict_name(expected))

/* From step `first` on each step keeps a block of 512 bytes. */
static struct verdict_site judged(uint32_t first, uint32_t steps, uint32_t line_release)
{
	struct verdict_site site;
	struct made made;

	made_init(&made);
	while (made.step <= steps) {
		if (made.step >= first)
			made_born(&made, 1, 512);
		made_mark(&made);
	}
	verdict_site(&site, &(struct verdict_site_input){.now = made.step - 1,
							 .version = &made.version,
							 .evidence = &made.evidence,
							 .teeth = &made.teeth,
							 .line_release = line_release});
	return site;
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

int main(void)
{
	waits_for_the_line();
	but_not_for_ever();
	return test_result();
}
