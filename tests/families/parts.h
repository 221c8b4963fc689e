/*
 * The parts that histories are made of.  Each adds one pattern with random sizes,
 * rates and periods that fit the world's number of steps, and claims its label.
 */
#ifndef GPULEAK_FAMILIES_PARTS_H
#define GPULEAK_FAMILIES_PARTS_H

#include "world.h"

#define PARTS_MAX 4

struct part {
	const char *name;
	void (*add)(struct world *world);
	uint32_t least; /* steps that make the label certain */
};

/* Ended by an entry without a name. */
extern const struct part leak_parts[];
extern const struct part bounded_parts[];
extern const struct part unclear_parts[];

/* What every training does; in `plain` ones nothing that stays or varies by itself. */
void background_plain(struct world *world);
void background_any(struct world *world);

/* Steps a leak must go on for until it can be called one, with some to spare. */
double steps_of_proof(const struct world *world);

double small_size(struct world *world);
double any_size(struct world *world);
double large_size(struct world *world);

#endif
