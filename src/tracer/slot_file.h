/*
 * The file of a trace that is not mapped: two whole images, written in turn by plain
 * writes, of which only what changed is written.  docs/trace-format.md, "Two slots".
 *
 * Killed or failing at any write, the slot written last before is whole.
 * One thread at a time; blocks on the disk.
 */
#ifndef GPULEAK_TRACER_SLOT_FILE_H
#define GPULEAK_TRACER_SLOT_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/output_file.h"

struct slot_file {
	struct output_file *file; /* borrowed */
	uint64_t size;		  /* bytes of an image */
	uint64_t *tags[2];	  /* owned, one a page: what the slot has there; 0: unknown */
	uint64_t written;	  /* writings so far */
	unsigned slot;		  /* being written */
	int error;		  /* errno of the first write of this turn that failed; 0: none */
};

/* Bytes of a file whose images have `size` bytes. */
uint64_t slot_file_size(uint64_t size);

/* Give a new file its length and head, with no slot whole yet.  0 or an errno. */
int slot_file_make(int fd, uint64_t size);

/* Prepare to write images to a file that was made so.  False without memory. */
bool slot_file_open(struct slot_file *slots, struct output_file *file);

/* Begin the next image: the older slot no longer counts. */
void slot_file_begin(struct slot_file *slots);

/* Write the pages of `image` that hold [offset, offset + size) and are not in the slot yet. */
void slot_file_put(struct slot_file *slots, const uint8_t *image, uint64_t offset, uint64_t size);

/* True when the slot's page at `offset` is what `tag` stands for. */
bool slot_file_has(const struct slot_file *slots, uint64_t offset, uint64_t tag);

/* Write one page, for which `tag` stands: not 0. */
void slot_file_put_page(struct slot_file *slots, const void *page, uint64_t offset, uint64_t tag);

/* The image is whole and counts.  False with `error` when a write failed: then it doesn't. */
bool slot_file_end(struct slot_file *slots);

#endif
