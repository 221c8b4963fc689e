/*
 * A call stack of its own for every number: its hexadecimal digits are the functions
 * called, the lowest digit first.  The test reads the number back from the frames.
 */
#ifndef GPULEAK_TESTS_SITE_STACK_H
#define GPULEAK_TESTS_SITE_STACK_H

#include <stdint.h>

/* Call `perform(data)` below the stack of `site`. */
void site_call(uint32_t site, void (*perform)(void *data), void *data);

#endif
