/*
 * A trace at its last mark, copied out of the file: nothing in it changes any
 * more, whatever the writer does.  Every record is the newest version that is
 * not above the last mark.
 */
#ifndef GPULEAK_REPORT_SNAPSHOT_H
#define GPULEAK_REPORT_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/message.h"
#include "report/names.h"
#include "report/trace_file.h"
#include "trace/format.h"

enum {
	SNAPSHOT_NO_DEVICE = 0xffff
};

struct snapshot_site {
	uint64_t key;
	uint32_t item; /* number in the sites' section */
	uint32_t stack;
	uint16_t device; /* item of `devices`, or SNAPSHOT_NO_DEVICE */
	uint8_t source;
	uint8_t flags;
	struct gpuleak_site_version at;
	double growth; /* of the blocks' size: in the last step by the mean; 0: unknown */
};

/* An event from after the last mark. */
struct snapshot_event {
	int64_t size;
	uint32_t site;	 /* number in the sites' section */
	uint32_t device; /* PyTorch's number */
	uint8_t kind;	 /* enum gpuleak_event_kind */
};

struct snapshot_device {
	uint32_t device; /* PyTorch's number */
	uint32_t item;	 /* number in the devices' section */
	gpuleak_string_id name;
	gpuleak_string_id uuid;
	uint64_t capacity;
	struct gpuleak_device_version at;	 /* all zero where no mark has seen the device */
	struct gpuleak_driver_version driver;	 /* all zero where the program never asked */
	struct gpuleak_timeline_entry *timeline; /* owned, the open entry last */
	size_t timeline_count;
};

struct snapshot {
	uint64_t steps;			  /* the last mark; 0: none yet */
	struct gpuleak_mark_version mark; /* all zero before the first */
	struct gpuleak_run run;
	struct gpuleak_state state;
	struct names names;
	struct snapshot_site *sites; /* owned: those with a version, by item */
	size_t site_count;
	struct snapshot_site *fresh; /* owned: those without, first seen after the mark; by item */
	size_t fresh_count;
	struct gpuleak_evidence_version *evidence; /* owned, by item; mark 0: none */
	struct gpuleak_teeth *teeth;		   /* owned, as `evidence`; all zero: unknown */
	uint32_t *evidence_site;		   /* owned, item of the site it belongs to */
	size_t evidence_count;
	struct snapshot_device devices[GPULEAK_DEVICES_MAX];
	size_t device_count;
	struct gpuleak_host_version host; /* all zero where nothing is known */
	struct gpuleak_note *notes;	  /* owned */
	size_t note_count;
	struct snapshot_event *open; /* owned: in order, as far as the ring has them */
	size_t open_count;
	uint64_t events_kept; /* in the ring */
	bool events_counted;  /* false: the ring is too large to look through */
	bool cut;	      /* the file ends too early */
	bool hurried;	      /* the writer was faster: records may be a few marks apart */
	uint64_t damaged;     /* records skipped */
	uint64_t lost;	      /* records in use that the file has no more */
	uint64_t blind;	      /* of these, those without which a verdict is not sound */
};

/*
 * Copy the trace in `file` as of its last mark.  Waits at most two seconds for a
 * writer that is faster than the copying.
 *
 * Returns 0, or -1 with the reason in `why` and nothing to release.
 */
int snapshot_take(struct snapshot *snapshot, struct trace_file *file, const char *path,
		  struct message *why);

void snapshot_release(struct snapshot *snapshot);

/* The device that a site is of; NULL where that is damaged. */
const struct snapshot_device *snapshot_device(const struct snapshot *snapshot,
					      const struct snapshot_site *site);

/* The evidence that belongs to a site, or NULL where it holds nothing across marks. */
const struct gpuleak_evidence_version *snapshot_evidence(const struct snapshot *snapshot,
							 const struct snapshot_site *site);

/* The teeth of the same; NULL where nothing is known of them. */
const struct gpuleak_teeth *snapshot_teeth(const struct snapshot *snapshot,
					   const struct snapshot_site *site);

/* The site with this number, whether it has a version or is fresh; NULL: none. */
const struct snapshot_site *snapshot_site_of(const struct snapshot *snapshot, uint32_t item);

/* True of a site at which PyTorch's allocator takes segments from the GPU. */
bool snapshot_site_is_segment(const struct snapshot *snapshot, uint32_t item);

#endif
