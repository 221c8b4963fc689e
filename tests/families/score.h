/*
 * What was true and what was said, counted over many traces.
 */
#ifndef GPULEAK_FAMILIES_SCORE_H
#define GPULEAK_FAMILIES_SCORE_H

#include <stdio.h>

#include "events.h"
#include "ledger.h"

enum {
	SCORES_MAX = 160,
};

/* One family, or one suite. */
struct score {
	char name[48];
	uint32_t traces;
	uint32_t leaky;		     /* traces with a leak */
	uint32_t found;		     /* ... called LEAK, for a stack that leaks */
	uint32_t growing;	     /* ... called GROWING instead */
	uint32_t sites, sites_found; /* leaking stacks, and those called LEAK */
	uint32_t false_alarms;	     /* traces without a leak called LEAK */
	uint32_t wrong_site;	     /* traces in which a stack that doesn't leak is called LEAK */
	uint32_t innocent_sites;     /* stacks that don't leak */
	uint32_t unsaid;	     /* undecidable ones called LEAK without `bound unknown` */
	uint32_t accepted;	     /* the label is one that is right */
	uint32_t confusion[VERDICT_COUNT][VERDICT_COUNT]; /* truth, said */
};

struct scores {
	struct score score[SCORES_MAX];
	uint32_t count;
	bool verbose; /* print each trace that isn't accepted */
	/* Nothing is judged: the traces are counted, and the events of one are written. */
	struct events *events; /* NULL: judge */
	uint32_t played;
	uint32_t wanted; /* the one whose events are written, from 1 */
};

struct score *scores_of(struct scores *scores, const char *suite, const char *family);

/* Judge the world at the last mark of `ledger` and count. */
void score_add(struct scores *scores, struct score *score, const struct world *world,
	       const struct ledger *ledger, uint64_t seed);

/* The sum of all whose name begins with `suite`. */
struct score scores_sum(const struct scores *scores, const char *suite);

void scores_print(const struct scores *scores, const char *suite);
void scores_json(const struct scores *scores, FILE *file);

#endif
