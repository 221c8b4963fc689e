/*
 * Makes trace files for tests, the way the tracer does: step by step, two versions
 * of what a mark changes, one last store that makes the mark count.
 */
#ifndef GPULEAK_TESTS_BUILD_TRACE_H
#define GPULEAK_TESTS_BUILD_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"

enum {
	BUILD_STEPS_MAX = 4096,
	BUILD_SITES_MAX = 256,
	BUILD_BLOCKS_MAX = 1 << 16, /* alive at once, of all sites */
	BUILD_FRAMES_MAX = 64,	    /* of a stack */
};

/* What a site does in each step from `from` on, every `every` steps, up to `until`. */
struct build_pattern {
	uint32_t from;
	uint32_t every;	 /* 0: in step `from` only */
	uint32_t until;	 /* 0: to the end */
	uint32_t blocks; /* allocated each time */
	uint64_t bytes;	 /* of each block */
	uint64_t noise;	 /* bytes: up to so many more, by chance */
	uint64_t grows;	 /* bytes: so many more each time */
	uint32_t age;	 /* freed so many steps later; BUILD_KEPT: never, 0: in the same step */
	uint32_t flush;	 /* instead: all of the site's blocks are freed each so many steps */
};

#define BUILD_KEPT 0xffffffffu

struct build_site {
	struct build_pattern pattern;
	uint32_t times; /* that the pattern came up */
	bool touched;	/* in the step under way */
	struct gpuleak_site_version now;
	uint32_t deaths[GPULEAK_DEATHS];
	uint32_t born_blocks[BUILD_STEPS_MAX];
	uint64_t born_bytes[BUILD_STEPS_MAX];
	uint64_t level_bytes[BUILD_STEPS_MAX];
	uint32_t level_blocks[BUILD_STEPS_MAX];
};

struct build_block {
	uint32_t site;
	uint32_t birth;
	uint64_t bytes;
	uint64_t address;
};

struct build {
	uint8_t *bytes; /* the file's content: owned, or a mapping of the caller's */
	uint64_t size;
	bool mapped;
	struct gpuleak_file_header *header;
	struct gpuleak_run *run;
	struct gpuleak_state *state;
	uint32_t step; /* the step under way */
	uint64_t step_ns;
	struct build_site *sites;   /* owned */
	struct build_block *blocks; /* owned */
	uint32_t block_count;
	uint64_t allocated[GPULEAK_DEVICES_MAX];
	uint64_t reserved[GPULEAK_DEVICES_MAX];
	uint64_t peak_in_step[GPULEAK_DEVICES_MAX];
	uint64_t trough_in_step[GPULEAK_DEVICES_MAX];
	struct gpuleak_device_version device_now[GPULEAK_DEVICES_MAX];
	uint64_t events;
	uint64_t random;
	uint64_t next_address;
};

/* A trace of `size` bytes in memory, with nothing in it.  Tests end when that fails. */
void build_init(struct build *build, uint64_t size);

/* The same, in `bytes` of the caller's: a file that others read while it grows. */
void build_init_at(struct build *build, uint8_t *bytes, uint64_t size);
void build_release(struct build *build);

/* The first byte of a section. */
void *build_section(struct build *build, uint32_t kind);

gpuleak_string_id build_string(struct build *build, const char *text);

/* The same of bytes, which may hold anything. */
gpuleak_string_id build_bytes(struct build *build, const void *bytes, uint32_t size);

/* Each returns the item's number in its section. */
uint32_t build_python_frame(struct build *build, const char *file, uint32_t line,
			    const char *function);
uint32_t build_native_frame(struct build *build, const char *module, uint64_t offset,
			    const char *symbol);

/* A stack from text, innermost frame first: "file:line:function|file:line:function", or
 * "!module:offset:symbol" for a native frame.  Behind "||": of the thread that called backward().
 * Returns its word. */
uint32_t build_stack(struct build *build, const char *frames);

uint32_t build_device(struct build *build, uint32_t device, const char *name, uint64_t capacity);
uint32_t build_site(struct build *build, uint32_t device, const char *frames, uint8_t flags,
		    struct build_pattern pattern);

/* Do what the sites do in the step under way, then end it. */
void build_step(struct build *build);
void build_steps(struct build *build, uint32_t count);

/* Begin the next mark, and write all but the last store: a process killed there. */
void build_half_step(struct build *build);

void build_note_oom(struct build *build, uint32_t device, uint64_t size, uint32_t stack);
void build_note_optimizers_off(struct build *build, const char *why);

/* The process ends. */
void build_finish(struct build *build);

/* False with errno. */
bool build_write(const struct build *build, const char *path);

/* Put the trace into both slots of a file with slots, filled by these writings. */
void build_slots(struct build *build, uint64_t first, uint64_t second);

#endif
