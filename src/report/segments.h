/*
 * What PyTorch's allocator has reserved and nobody uses, and why: from the events that the
 * ring still has.
 *
 * Of a segment that was taken from the GPU within the ring all blocks are known, since
 * they came after it.  Of older ones nothing is.
 */
#ifndef GPULEAK_REPORT_SEGMENTS_H
#define GPULEAK_REPORT_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report.h"

enum segments_reason {
	SEGMENTS_UNKNOWN = 0,  /* the ring doesn't tell */
	SEGMENTS_STREAMS = 1,  /* taken while one as large lay free: of another stream or pool */
	SEGMENTS_OUTGROWN = 2, /* free as a whole; what is asked for now is larger */
	SEGMENTS_PIECES = 3,   /* small pieces of them are in use */
};

struct segments {
	uint32_t known;	      /* segments taken within the ring, and still held */
	uint64_t known_bytes; /* of them */
	uint32_t steps;	      /* the last ones of the run, which decide what is used */
	uint32_t idle;	      /* segments that none of these steps used */
	uint64_t idle_bytes;
	uint32_t pieces;	/* segments of which the most that was in use is less than a half */
	uint64_t pieces_bytes;	/* of them, never in use */
	uint64_t largest_piece; /* bytes: of what is in use in them */
	uint32_t despite;	/* taken while one as large lay free as a whole, and still held */
	uint64_t despite_bytes;
	uint32_t scattered; /* taken while as much lay free, in smaller pieces, and still held */
	uint64_t scattered_bytes;
	enum segments_reason reason;
	const struct snapshot_site
		*last; /* borrowed: for whom the last one was taken; NULL: none */
};

/*
 * Of the segments at the last mark; with `at_oom` at the last error of the step under way.
 * False when the ring tells nothing.
 */
bool segments_find(struct segments *segments, const struct report *report,
		   const struct findings *device, bool at_oom);

/* "streams", "outgrown", "pieces", or NULL. */
const char *segments_reason_name(enum segments_reason reason);

/* The setting of PYTORCH_CUDA_ALLOC_CONF that helps; NULL: none does. */
const char *segments_setting(const struct segments *segments, char *buffer, size_t size);

#endif
