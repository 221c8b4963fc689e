/*
 * A library that comes and goes.
 */
#ifndef GPULEAK_TESTS_PROGRAMS_PLUGIN_H
#define GPULEAK_TESTS_PROGRAMS_PLUGIN_H

/* Calls `perform` from a frame of its own. */
typedef void plugin_function(void (*perform)(void *data), void *data);

#endif
