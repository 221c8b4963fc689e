/*
 * The writer's view of the trace: where each section lies in the mapping, and the
 * append-only ones (strings, frames, stacks, sites, notes).
 *
 * Threads: `trace` is set up once before recording starts and read-only then, but
 * for what each field says.  Functions that append take `intern_lock` themselves
 * unless they say otherwise.
 */
#ifndef GPULEAK_TRACER_TRACE_WRITER_H
#define GPULEAK_TRACER_TRACE_WRITER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"
#include "tracer/output_file.h"

struct trace {
	struct output_file file;
	uint64_t started; /* CLOCK_MONOTONIC, ns */
	struct gpuleak_run *run;
	struct gpuleak_state *state; /* counts: atomic; the rest: mark.c */
	uint8_t *strings;
	struct gpuleak_frame *frames;
	uint32_t *stacks;
	struct gpuleak_site *sites;
	struct gpuleak_evidence *evidence;
	struct gpuleak_device *devices;
	struct gpuleak_host *host;
	struct gpuleak_driver *driver; /* by device */
	struct gpuleak_timeline_entry *timeline;
	struct gpuleak_note *notes;
	struct gpuleak_ring_page *ring;
	uint64_t strings_size; /* bytes */
	uint64_t frames_max;   /* items, as all that follow */
	uint64_t stacks_max;
	uint64_t sites_max;
	uint64_t evidence_max;
	uint64_t timeline_share; /* entries of a half of a device's share */
	uint64_t notes_max;
	uint64_t ring_pages;
	bool ring_touching;    /* ring_touch_ahead() is at work: atomic, and guards ... */
	uint64_t ring_seen;    /* pages claimed, and ... */
	uint64_t ring_touched; /* ... ready, when it was last */
};

extern struct trace trace;

/*
 * Lay a new, zeroed file out, with `ring` bytes for the ring (0: what is left), and point
 * `trace` into it.  False when it is too small.
 */
bool trace_writer_init(struct output_file *file, uint64_t ring);

/* Nanoseconds since the trace's creation. */
uint64_t trace_now(void);

/* The id of a text of `size` bytes; 0 when there is no room.  Takes intern_lock. */
gpuleak_string_id trace_string(const char *text, size_t size);

/* A frame's number; GPULEAK_SITE_NONE when there is no room.  `frame->function` does not
 * tell native frames apart.  Takes intern_lock. */
uint32_t trace_frame(const struct gpuleak_frame *frame, const void *native_address);

/*
 * Write a stack of `count` frame numbers, innermost first, or find it: `*word` is
 * where, `*key` a hash of its content.  False when there is no room.  Takes intern_lock.
 */
bool trace_stack(const uint32_t *frames, uint32_t count, uint32_t flags, uint32_t *word,
		 uint64_t *key);

/* A new item of the sites' section, filled with `site`; GPULEAK_SITE_NONE: no room. */
uint32_t trace_site(const struct gpuleak_site *site);

/* A new item of the evidence section, from 1; 0: no room. */
uint32_t trace_evidence(uint32_t site);

/* Append a note; drops and counts it when there is no room. */
void trace_note(const struct gpuleak_note *note);

/* No site has evidence, and notes so far are of the baseline.  Takes intern_lock. */
void trace_start_anew(void);

/*
 * The address of the next native frame that this didn't return yet, and its number; NULL when
 * there is none.  Takes intern_lock.
 */
const void *trace_next_unnamed(uint64_t *number);

/* Count something in a field of `trace.state`. */
static inline void trace_count(uint64_t *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* In a child after fork: an empty trace, no lock held. */
void trace_writer_forget(void);

#endif
