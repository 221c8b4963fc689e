/*
 * Whether a copy of a trace that was made beside its writer belongs together: for whoever copies
 * one, the report and the writer of slots.
 */
#ifndef GPULEAK_TRACE_SOUND_H
#define GPULEAK_TRACE_SOUND_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/format.h"

static inline const struct gpuleak_mark_version *sound_mark(const struct gpuleak_state *state,
							    uint64_t mark)
{
	for (unsigned i = 0; i < 2; i++)
		if (state->marks[i].mark == mark)
			return &state->marks[i];
	return NULL;
}

/*
 * `mark` is what was copied, by the state as it was `before` all else was read; `after` is the
 * state as it was when all had been.  Up to the mark after the next one a version that counts is
 * not overwritten.  And the count has not begun anew meanwhile, where the same number may have
 * come again: then it bears another time.
 */
static inline bool sound_copy(const struct gpuleak_state *before, const struct gpuleak_state *after,
			      uint64_t mark)
{
	const struct gpuleak_mark_version *was = mark ? sound_mark(before, mark) : NULL;
	const struct gpuleak_mark_version *is = was ? sound_mark(after, mark) : NULL;

	if (after->begun > mark + 1 || after->committed < before->committed)
		return false;
	return !was || (is && is->when == was->when);
}

#endif
