/*
 * Names of C++ functions as people know them.
 */
#ifndef GPULEAK_REPORT_DEMANGLE_H
#define GPULEAK_REPORT_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

#include "report/names.h"

/*
 * "at::native::empty_cuda" of "_ZN2at6native10empty_cudaEv".  Reads plain and nested
 * names only: false for templates, operators and whatever else there is.
 */
bool demangle(struct text symbol, char *name, size_t size);

/*
 * The next part of a nested name, its length and so many letters, into `part`; `symbol` is
 * what follows.  False when there is none.
 */
bool demangle_part(struct text *symbol, struct text *part);

#endif
