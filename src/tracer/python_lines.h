/* The line tables of CPython's code objects: which line an instruction belongs to. */
#ifndef GPULEAK_TRACER_PYTHON_LINES_H
#define GPULEAK_TRACER_PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "tracer/python_offsets.h"

/* A code object's table and the line that it counts from. */
struct python_lines {
	enum python_line_format format;
	const uint8_t *table; /* borrowed from the code object */
	size_t size;	      /* bytes */
	int32_t first_line;
};

/*
 * The line of the instruction `offset` bytes into the bytecode.  An instruction
 * that has none (the compiler's own) gets the last one before it.
 */
int32_t python_line(const struct python_lines *lines, int64_t offset);

#endif
