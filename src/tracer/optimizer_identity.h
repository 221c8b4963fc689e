/*
 * Which optimizer stepped: also where one is made at the address of one that is gone, and where
 * one steps for several in turn.  Asked after each step of an optimizer, so without the
 * interpreter's loop where it was seen lately.
 *
 * Threads: any that holds the GIL, or, in a Python without one, is attached.
 */
#ifndef GPULEAK_TRACER_OPTIMIZER_IDENTITY_H
#define GPULEAK_TRACER_OPTIMIZER_IDENTITY_H

#include <stdint.h>

#include "tracer/python_api.h"

/* `entry` is agent.py's function of that name; a reference is kept.  Once. */
void optimizer_identity_open(PyObject *entry);

/*
 * A number for the optimizer and its first parameter.  Some wrappers step one optimizer
 * once for each of its groups, putting one group after the other in the place of all:
 * these are told apart.  Nothing is looked into beyond the optimizer's own lists; `*groups`
 * becomes the length of the first.
 */
uint64_t optimizer_identity(PyObject *optimizer, long *groups);

/* In a child after fork. */
void optimizer_identity_forget(void);

#endif
