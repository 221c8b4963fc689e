/* What the files of the trace builder share. */
#ifndef GPULEAK_TESTS_BUILD_PARTS_H
#define GPULEAK_TESTS_BUILD_PARTS_H

#include "build_trace.h"

/* Ends the test, saying what is missing, unless `condition` holds. */
void build_need(bool condition, const char *what);

/* Items that a section has room for. */
uint64_t build_items(const struct build *build, uint32_t kind);

#endif
