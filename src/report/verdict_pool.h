/* Many call stacks that keep memory once each, or one after the other: see verdict_pool.c. */
#ifndef GPULEAK_REPORT_VERDICT_POOL_H
#define GPULEAK_REPORT_VERDICT_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/verdict.h"

/* True when they leak: `pool` describes them and each has `pooled` set. */
bool verdict_pool(struct verdict_site *pool, struct verdict_site *sites, size_t count, int64_t now);

#endif
