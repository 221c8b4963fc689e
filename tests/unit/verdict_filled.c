/* What came in a few rounds: jumps, or something that filled early and is full. */
#include "report/verdict.h"
#include "test.h"
#include "verdict_made.h"

#define EXPECT_LABEL(site, expected) EXPECT_STR(verdict_name((site).label), verdict_name(expected))

/* A block of 1 MiB stays from each of the steps given, 0 ends them; 200 steps in all. */
static struct verdict_site keeps_of(const uint32_t *births)
{
	struct made made;

	made_init(&made);
	while (made.step <= 200) {
		if (*births && made.step == *births) {
			made_born(&made, 1, 1 << 20);
			births++;
		}
		made_mark(&made);
	}
	return made_judged(&made, NULL);
}

static void few_rounds(void)
{
	static const struct {
		uint32_t births[16];
		enum verdict label;
	} rows[] = {
		{{8, 15, 22, 29}, VERDICT_PLATEAU},
		{{2, 9, 13, 30, 50}, VERDICT_PLATEAU},
		{{2, 9, 13, 30, 51}, VERDICT_JUMP},
		{{8, 15, 22}, VERDICT_JUMP},
		{{8, 60, 90, 120}, VERDICT_JUMP},
		{{8, 15, 22, 29, 199}, VERDICT_JUMP},
		{{5, 8, 11, 14, 20, 26, 31, 40}, VERDICT_PLATEAU},
		{{5, 18, 31, 44, 50, 76, 81, 90}, VERDICT_JUMP},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct verdict_site site = keeps_of(rows[i].births);

		EXPECT_LABEL(site, rows[i].label);
	}
}

static void sentence(void)
{
	struct verdict_site site = keeps_of((const uint32_t[]){8, 15, 22, 29, 0});
	char text[VERDICT_SENTENCE];

	verdict_site_sentence(&site, text, sizeof(text));
	EXPECT_STR(text, "stopped growing 171 steps ago, in step 29");
	EXPECT_U64(site.since, 29);
}

int main(void)
{
	few_rounds();
	sentence();
	return test_result();
}
