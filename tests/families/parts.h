/*
 * The parts that histories are made of.  Each adds one pattern with random sizes,
 * rates and periods that fit the world's number of steps, and claims its label.
 */
#ifndef GPULEAK_FAMILIES_PARTS_H
#define GPULEAK_FAMILIES_PARTS_H

#include "habit.h"
#include "world.h"

#define BIT(label) (1u << VERDICT_##label)

struct part {
	const char *name;
	void (*add)(struct world *world);
	uint32_t least; /* steps that make the label certain */
};

/* Ended by an entry without a name. */
extern const struct part leak_parts[];
extern const struct part bounded_parts[];
extern const struct part unclear_parts[];
/* Not in compositions: beside such a demand many a leak can't be told. */
extern const struct part alone_parts[];

#define PARTS_LEAK
#define PARTS_BOUNDED
#define PARTS_UNCLEAR
#define PARTS_ALONE
#define P(kind, name, function, least) void kind##_##function(struct world *world);
#include "parts.def"
#undef P
#undef PARTS_LEAK
#undef PARTS_BOUNDED
#undef PARTS_UNCLEAR
#undef PARTS_ALONE

/* What every training does; in `plain` ones nothing that stays or varies by itself. */
void background_plain(struct world *world);
void background_any(struct world *world);

/* Steps a leak must go on for until it can be called one, with some to spare. */
double steps_of_proof(const struct world *world);

/* A share of the run, at least `least` steps. */
uint32_t share_of_steps(struct world *world, double low, double high, uint32_t least);

/* A stack that doesn't leak. */
uint32_t innocent_site(struct world *world);

/* One such, of large blocks, `count` a step, let go as `hold` says. */
void hold_large(struct world *world, enum hold hold, double a, double b, double count);

double small_size(struct world *world);
double any_size(struct world *world);
double large_size(struct world *world);

#endif
