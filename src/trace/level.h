/*
 * A site's levels at the marks, as format.h has them: what tracer and reader both do with them.
 */
#ifndef GPULEAK_TRACE_LEVEL_H
#define GPULEAK_TRACE_LEVEL_H

#include "trace/format.h"

/* Make `level` that of its own marks and of those of `other`. */
static inline void level_join(struct gpuleak_level *level, const struct gpuleak_level *other)
{
	if (other->min_bytes < level->min_bytes)
		level->min_bytes = other->min_bytes;
	if (other->max_bytes > level->max_bytes)
		level->max_bytes = other->max_bytes;
	if (other->min_blocks < level->min_blocks)
		level->min_blocks = other->min_blocks;
	if (other->max_blocks > level->max_blocks)
		level->max_blocks = other->max_blocks;
}

#endif
