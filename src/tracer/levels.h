/*
 * A series of lowest and highest values at marks, in a fixed number of buckets: when
 * they are full, neighbours become one, and each is twice as many steps.
 *
 * Pure functions on the caller's memory.
 */
#ifndef GPULEAK_TRACER_LEVELS_H
#define GPULEAK_TRACER_LEVELS_H

#include <stddef.h>
#include <stdint.h>

struct levels {
	uint64_t *pairs;  /* borrowed: buckets of `values` pairs of lowest and highest */
	uint32_t values;  /* of a bucket */
	uint32_t room;	  /* buckets, even */
	uint32_t *shift;  /* borrowed: a bucket is 1 << shift steps */
	uint32_t *in_use; /* borrowed: buckets, the last one still open */
};

/* `now` has each value at `mark`.  Buckets of marks that were left out get the same. */
void levels_add(const struct levels *levels, uint64_t mark, const uint64_t *now);

#endif
