/*
 * The environment variables of the tracer, read once by settings_read().
 * docs/man/libgpuleak.7 describes each.
 */
#ifndef GPULEAK_TRACER_SETTINGS_H
#define GPULEAK_TRACER_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

enum settings_stacks {
	SETTINGS_STACKS_AUTO = 0, /* Python's frames where the thread has any, else native ones */
	SETTINGS_STACKS_PYTHON = 1,
	SETTINGS_STACKS_NATIVE = 2,
	SETTINGS_STACKS_NONE = 3,
};

enum settings_writer {
	SETTINGS_WRITER_AUTO = 0, /* mapped on local file systems, slots on others */
	SETTINGS_WRITER_MAPPED = 1,
	SETTINGS_WRITER_SLOTS = 2,
};

struct settings {
	char out[1024];		     /* GPULEAK_OUT; "": the default */
	uint64_t size;		     /* GPULEAK_SIZE, bytes */
	uint64_t ring;		     /* GPULEAK_RING, bytes; 0: what is left */
	enum settings_stacks stacks; /* GPULEAK_STACKS */
	enum settings_writer writer; /* GPULEAK_WRITER */
	bool hide_argv;		     /* GPULEAK_ARGV=0 */
	uint64_t run_started; /* GPULEAK_RUN_STARTED, ns since 1970; else this process's start */
	bool run_given;	      /* the former */
	bool quiet;	      /* GPULEAK_QUIET=1 */
	bool steps_given;     /* GPULEAK_CLOCK=given: optimizers and gpuleak_step() alone */
	char folder[4096];    /* where the program started; "": unknown */
	char complaint[512];  /* what made no sense, one line; "": all did */
};

/* Written by settings_read() in the constructor, read-only from then on. */
extern struct settings settings;

/*
 * Read the environment.  Says nothing: every shell and helper that inherits the
 * preload reads it too.  Who makes a trace says `complaint`.
 */
void settings_read(void);

#endif
