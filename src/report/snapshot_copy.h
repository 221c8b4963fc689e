/*
 * The parts of a snapshot, each copied out of its section.  For snapshot.c alone.
 */
#ifndef GPULEAK_REPORT_SNAPSHOT_COPY_H
#define GPULEAK_REPORT_SNAPSHOT_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "report/snapshot.h"

/* What a snapshot in the making still may take, so that no file makes it take all. */
struct budget {
	uint64_t left; /* bytes */
	bool spent;    /* something was left out for want of it */
};

/* All of these read up to what the counts in `snapshot->state` say is in use. */
void copy_sites(struct snapshot *snapshot, const struct trace_file *file, struct budget *budget);
void copy_evidence(struct snapshot *snapshot, const struct trace_file *file, struct budget *budget);
void copy_devices(struct snapshot *snapshot, const struct trace_file *file, struct budget *budget);
void copy_host(struct snapshot *snapshot, const struct trace_file *file);
/* After copy_devices(). */
void copy_driver(struct snapshot *snapshot, const struct trace_file *file);
void copy_notes(struct snapshot *snapshot, const struct trace_file *file, struct budget *budget);
void copy_names(struct snapshot *snapshot, const struct trace_file *file, struct budget *budget);

/* Looks through the ring. */
void copy_events(struct snapshot *snapshot, const struct trace_file *file);

#endif
