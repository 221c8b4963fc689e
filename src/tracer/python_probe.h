/* Reads memory that may not be there: a wrong guess is an answer, not a fault. */
#ifndef GPULEAK_TRACER_PYTHON_PROBE_H
#define GPULEAK_TRACER_PYTHON_PROBE_H

#include <stdbool.h>
#include <stddef.h>

/* Copy `size` bytes (4096 at most) from `address`; false when they can't be read.  errno stays. */
bool python_probe(const void *address, void *copy, size_t size);

#endif
