/*
 * The trace as a file: made, allocated and mapped at a safe moment under a
 * temporary name, then published under its own by one rename.
 *
 * Where a mapping isn't safe the file is made for slots: slot_file.h.
 */
#ifndef GPULEAK_TRACER_OUTPUT_FILE_H
#define GPULEAK_TRACER_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tracer/output_name.h"

struct output_file {
	uint8_t *bytes; /* the shared mapping, or memory that slots.c writes; NULL: none */
	uint64_t size;	/* bytes of the trace; a file with slots holds it twice */
	bool slotted;	/* not mapped */
	int fd;		/* holds the lock that says "in use"; -1: none */
	dev_t device;	/* the file's, to know it by: the target may close our fd */
	ino_t inode;
	bool published; /* under its own name */
	char why[256];	/* after a failure: what was wrong */
	struct output_name temporary;
	struct output_name name;
};

/*
 * Make a file of `size` bytes, zeroed, with its blocks allocated, so that a full
 * disk shows now and not as a SIGBUS in the target.  Falls back to $SLURM_TMPDIR,
 * $TMPDIR and /tmp where the folder can't hold it, saying so.  False with `why`.
 * Blocks on the disk: never under a lock of the target's.  Keeps errno.
 */
bool output_file_make(struct output_file *file, uint64_t size);

/*
 * Give the file its name.  A trace of that name whose writer lives is left alone and
 * this one called by its pid; an old one is renamed to .old.  Keeps errno.
 */
bool output_file_publish(struct output_file *file);

/* Another process of this run has the name that the file would get.  Keeps errno. */
bool output_file_superfluous(const struct output_file *file);

/* Remove a file that was never published. */
void output_file_discard(struct output_file *file);

/*
 * True when `fd` is the file's: a target that closed it may have the number in use for a
 * file of its own.  Then the file is opened anew by its name.  Blocks on the disk.
 */
bool output_file_find(struct output_file *file);

/* In a child after fork: let go of the parent's file without touching it. */
void output_file_forget(struct output_file *file);

#endif
