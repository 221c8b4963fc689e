/*
 * Who gets which share of a trace file.  docs/trace-format.md has the table.
 */
#ifndef GPULEAK_TRACE_LAYOUT_H
#define GPULEAK_TRACE_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/format.h"

#define LAYOUT_SIZE_DEFAULT (64ull << 20) /* bytes */
#define LAYOUT_SIZE_MIN	    (1ull << 20)
#define LAYOUT_SIZE_MAX	    (1ull << 40)

/*
 * Fill in `header` for a file of `size` bytes of which the ring gets `ring` bytes,
 * or what the other sections leave when `ring` is 0.  False when the file is too
 * small or too large, or the ring leaves too little for the rest.
 */
bool layout_header(struct gpuleak_file_header *header, uint64_t size, uint64_t ring);

/* The section of this kind, or NULL. */
const struct gpuleak_section *layout_section(const struct gpuleak_file_header *header,
					     uint32_t kind);

#endif
