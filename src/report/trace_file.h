/*
 * A trace on disk, perhaps still being written.  It is read with pread() and
 * never mapped: a file that somebody cuts short while we read it must not end us
 * with SIGBUS.
 */
#ifndef GPULEAK_REPORT_TRACE_FILE_H
#define GPULEAK_REPORT_TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/message.h"
#include "trace/format.h"

/* Items of one kind, as far as the file has them. */
struct trace_section {
	uint64_t offset;    /* bytes from the file's start */
	uint64_t items;	    /* that the section has room for, whole ones */
	uint64_t present;   /* of these, wholly inside the file: <= items */
	uint32_t item_size; /* bytes from one item to the next: never 0 */
};

struct trace_file {
	int fd;		  /* owned; -1: not open */
	uint64_t base;	  /* where the trace begins: not at 0 in a file with slots */
	uint64_t size;	  /* bytes of it that are there */
	unsigned slot;	  /* that it is in */
	uint64_t written; /* the writing that filled the slot; 0: the file has no slots */
	bool cut;	  /* the file ends before it should */
	uint32_t damaged; /* sections left out */
	struct gpuleak_file_header header; /* unsound sections have kind 0 */
};

/*
 * Open the trace at `path` and check its header and directory.
 *
 * Returns 0, or -1 with the reason in `why` and nothing to release.
 */
int trace_file_open(struct trace_file *file, const char *path, struct message *why);

/*
 * True when what was read since the last call, or since the opening, is of one writing.
 * Else the writer has begun with our slot again, and the file is at its other one now.
 */
bool trace_file_steady(struct trace_file *file);

/* Close it.  Nothing happens the second time. */
void trace_file_release(struct trace_file *file);

/*
 * Find the items of a kind that are at least `item_size` bytes each.  False when
 * the trace has none, or smaller ones; then `section` has no items.
 */
bool trace_file_section(const struct trace_file *file, uint32_t kind, uint32_t item_size,
			struct trace_section *section);

/* Copy `size` bytes at `offset` of the trace.  False when it doesn't have them. */
bool trace_file_read(const struct trace_file *file, uint64_t offset, void *dst, size_t size);

#endif
