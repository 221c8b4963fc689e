/*
 * Where text goes: a terminal with colours and a width, or a file without.
 */
#ifndef GPULEAK_REPORT_TERMINAL_H
#define GPULEAK_REPORT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/options.h"
#include "report/verdict.h"

struct terminal {
	FILE *out; /* borrowed */
	bool colour;
	size_t width; /* columns */
};

void terminal_init(struct terminal *terminal, FILE *out, enum colour_choice colour);

/* Switch to the colour of a verdict, to faint, and back to plain. */
void terminal_verdict(const struct terminal *terminal, enum verdict label);
void terminal_faint(const struct terminal *terminal);
void terminal_plain(const struct terminal *terminal);

/* Print `columns` spaces. */
void terminal_space(const struct terminal *terminal, size_t columns);

/* Print a verdict's name in its colour, and spaces up to the next column. */
void terminal_label(const struct terminal *terminal, enum verdict label);

#endif
