/* Reads a str object of CPython's without calling into CPython. */
#ifndef GPULEAK_TRACER_PYTHON_TEXT_H
#define GPULEAK_TRACER_PYTHON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/python_offsets.h"

/*
 * Copy the str at `object` to `text` as UTF-8, ended by NUL and cut before the
 * first character that doesn't fit.  Bytes that Python smuggles through a str
 * (surrogateescape) come out as they were.  False, with "" in `text`, when it
 * isn't a str.
 */
bool python_text_copy(const uint8_t *object, const struct python_object_offsets *at, char *text,
		      size_t size);

#endif
