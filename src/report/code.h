/*
 * Whose code a frame is: the user's, an installed library's, PyTorch's or
 * Python's own.
 */
#ifndef GPULEAK_REPORT_CODE_H
#define GPULEAK_REPORT_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "report/names.h"
#include "report/snapshot.h"

enum code_owner {
	CODE_UNKNOWN = 0, /* not looked at, or damaged */
	CODE_USER = 1,
	CODE_LIBRARY = 2, /* installed, neither PyTorch nor the standard library */
	CODE_TORCH = 3,
	CODE_STANDARD = 4, /* the standard library, and frozen modules */
	CODE_NATIVE = 5,
	CODE_NATIVE_RUNTIME = 6, /* where threads begin */
	CODE_NATIVE_TORCH = 7,	 /* PyTorch's allocator and kernels, and the tracer */
};

/* A file by its id, and whose it is. */
struct code_path {
	gpuleak_string_id file; /* 0: none */
	uint32_t owner;
};

struct code_map {
	const struct snapshot *snapshot; /* borrowed */
	const char *const *patterns;	 /* borrowed: what else is the user's */
	size_t pattern_count;
	uint8_t *owners;	 /* owned, by frame: enum code_owner */
	uint64_t *hashes;	 /* owned, by frame: place_frame_hash(); 0: not made yet */
	uint64_t *functions;	 /* owned, by frame: see place.c; 0: not made yet */
	struct code_path *paths; /* owned: a table of the files looked at so far */
	uint32_t paths_left;	 /* so many more are looked at: bounds the time for any bytes ... */
	uint64_t frames_left;	 /* ... as does this */
};

/* `patterns`: those of --user-code.  All that is borrowed must outlive `map`. */
void code_map_init(struct code_map *map, const struct snapshot *snapshot,
		   const char *const *patterns, size_t pattern_count);
void code_map_release(struct code_map *map);

/* The owner of a frame of the snapshot; of NULL: CODE_UNKNOWN. */
enum code_owner code_owner(struct code_map *map, const struct gpuleak_frame *frame);

/* The file of a Python frame, absolute; "?" where it is damaged. */
void code_file(const struct snapshot *snapshot, const struct gpuleak_frame *frame, char *path);

#endif
