/* One block that is replaced by ever larger ones, beside what else the steps allocate. */
#include <math.h>

#include "report/verdict.h"
#include "test.h"
#include "verdict_made.h"

#define EXPECT_LABEL(site, expected) EXPECT_STR(verdict_name((site).label), verdict_name(expected))

enum {
	STEPS = 320,
	COMPANY = 10,
};

/* The demand of the steps says nothing: another peak hides it. */
static const struct verdict_timeline flat = {
	.demand_first = 1e8, .demand_last = 1e8, .demand_growth = 1, .floor_growth = INFINITY};

/* From `first` bytes, 4 KiB more in each step; `grew` of ten other sites grew by that factor. */
static struct verdict_site swells(uint64_t first, uint32_t grew, double factor)
{
	double company[COMPANY];
	struct verdict_site site;
	struct made made;
	uint64_t bytes = first;

	for (uint32_t i = 0; i < COMPANY; i++)
		company[i] = (factor < 1 ? i < grew : i >= COMPANY - grew) ? factor : 1;
	made_init(&made);
	while (made.step <= STEPS) {
		if (made.step > 1)
			made_freed(&made, made.step - 1, bytes);
		bytes += 4096;
		if (made.step)
			made_born(&made, 1, bytes);
		made_mark(&made);
	}
	verdict_site(&site, &(struct verdict_site_input){.now = made.step - 1,
							 .version = &made.version,
							 .evidence = &made.evidence,
							 .timeline = &flat,
							 .company = company,
							 .company_count = COMPANY});
	return site;
}

static void company(void)
{
	static const uint64_t batch = 100 * 4096;
	static const struct {
		uint64_t first;
		uint32_t grew;
		double factor; /* the site's own is 1.6, or 2 from nothing */
		enum verdict label;
	} rows[] = {
		{batch, 8, 1.6, VERDICT_WORKLOAD},    {batch, 6, 1.6, VERDICT_WORKLOAD},
		{batch, 5, 1.6, VERDICT_LEAK},	      {batch, 0, 1.6, VERDICT_LEAK},
		{batch, 8, 1.35, VERDICT_WORKLOAD},   {batch, 8, 1.25, VERDICT_LEAK},
		{batch, 8, 2.1, VERDICT_WORKLOAD},    {batch, 8, 2.5, VERDICT_LEAK},
		{batch, 8, 0.6, VERDICT_LEAK},	      {0, 8, 2, VERDICT_LEAK},
		{50000 * 4096, 8, 1, VERDICT_STABLE},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct verdict_site site = swells(rows[i].first, rows[i].grew, rows[i].factor);

		EXPECT_LABEL(site, rows[i].label);
	}
}

static void sentence(void)
{
	struct verdict_site site = swells(100 * 4096, 8, 1.6);
	char text[VERDICT_SENTENCE];

	verdict_site_sentence(&site, text, sizeof(text));
	EXPECT_STR(text, "grew x 3.5 as the blocks of 8 of 10 call stacks did that keep nothing");
}

int main(void)
{
	company();
	sentence();
	return test_result();
}
