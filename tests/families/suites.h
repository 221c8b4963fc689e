/*
 * Suites of histories.  Each trace follows from the suite, the family and a seed.
 * Seeds below SEEDS_HELD_OUT are for development; rules were never looked at, let
 * alone changed, with traces of the others in sight.
 */
#ifndef GPULEAK_FAMILIES_SUITES_H
#define GPULEAK_FAMILIES_SUITES_H

#include "score.h"

#define SEEDS_HELD_OUT 2000000

struct seeds {
	uint64_t first;
	uint32_t count;
	const char *only; /* families whose name contains this; NULL: all */
};

/* One pattern at a time, beside what every training does. */
void suite_families(struct scores *scores, const struct seeds *seeds);

/* Four to twelve patterns at once, half of the traces with a leak among them. */
void suite_compositions(struct scores *scores, const struct seeds *seeds);

/* Stacks with random laws of arrival and lifetime. */
void suite_renewal(struct scores *scores, const struct seeds *seeds);

/* The same run cut short.  Returns the failures. */
uint32_t suite_stability(const struct seeds *seeds, bool verbose);

/* The same run with steps counted in other ways.  Returns the failures. */
uint32_t suite_marks(const struct seeds *seeds, bool verbose);

/* Rates against what stayed in the second half.  Returns the failures. */
uint32_t suite_rates(const struct seeds *seeds, bool verbose);

/* A seed for one trace. */
uint64_t trace_seed(const char *suite, const char *family, uint64_t seed);

/* Steps, evenly in the logarithm, from the seed. */
uint32_t trace_steps(uint64_t seed, uint32_t least, uint32_t most);

#endif
