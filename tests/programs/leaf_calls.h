/*
 * fake_alloc_at() called from a function of its own for each of 256 sites: leaf_00 to
 * leaf_ff.  To a report that is the line of the user's; two sites on one are one finding.
 */
#ifndef GPULEAK_TESTS_LEAF_CALLS_H
#define GPULEAK_TESTS_LEAF_CALLS_H

#include <stdint.h>

/* `site`: its lowest eight bits choose the function. */
void leaf_alloc(uint32_t site, int device, uint64_t address, uint64_t size);

#endif
