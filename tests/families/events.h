/*
 * A history as a list of events for tests/programs/replay, which passes them through
 * the tracer's hooks, and beside it what is true of it, for the one who judges the report.
 */
#ifndef GPULEAK_FAMILIES_EVENTS_H
#define GPULEAK_FAMILIES_EVENTS_H

#include <stdio.h>

#include "world.h"

struct events {
	FILE *list;
	FILE *truth;
	uint64_t reserved;
};

struct sink events_sink(struct events *events);

/* One line of JSON, of the world at its end. */
void events_truth(struct events *events, const struct world *world, const char *name,
		  uint64_t seed);

#endif
