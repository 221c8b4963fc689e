/* As much of a trace file as the launcher must know. */
#ifndef GPULEAK_LAUNCHER_TRACE_FILE_H
#define GPULEAK_LAUNCHER_TRACE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum trace_state {
	TRACE_NONE,    /* no trace of ours */
	TRACE_RUNNING, /* its writer lives */
	TRACE_EMPTY,   /* written by a process without GPU events */
	TRACE_WHOLE,
};

struct trace_look {
	enum trace_state state;
	dev_t device;
	ino_t inode;
	uid_t owner;
	uint64_t run_started; /* which run it is of; 0: unknown */
};

struct trace_look trace_look_at(const char *path);

/*
 * Rename the trace at `path` to the first free of .old, .old.2 and so on, unless its
 * writer lives or that cannot be told.  Returns the new name, owned by the caller; NULL: it stays.
 */
char *trace_put_aside(const char *path);

#endif
