/*
 * When a device ran out of memory: what was asked for, what was there, and why it
 * was not enough.
 */
#ifndef GPULEAK_REPORT_OOM_H
#define GPULEAK_REPORT_OOM_H

#include <stdbool.h>
#include <stdint.h>

#include "report/composition.h"
#include "report/report.h"
#include "report/tail.h"

enum oom_cause {
	OOM_SIZE = 0, /* what is needed is more than the device has */
	OOM_LEAK = 1, /* without what leaked it would have fit */
	OOM_FRAGMENTATION =
		2,	/* it would have fit into what is reserved and free, were that one piece */
	OOM_OTHERS = 3, /* there should be room: others hold it */
};

struct oom {
	const struct gpuleak_note *note; /* borrowed: the last one of the device */
	uint32_t count;			 /* of the device */
	bool ended;			 /* nothing was allocated after it: the run ended with it */
	bool open; /* it was in the step under way: `composition` is of that moment */
	enum oom_cause cause;
	uint64_t cached;    /* bytes reserved and free then */
	uint64_t leaked;    /* bytes that LEAK and GROWING findings hold */
	struct place place; /* of the call that could not be served */
	struct composition composition;
	bool piled_up;	  /* much did since the last mark ... */
	struct tail tail; /* ... all zero where not */
};

/* False, and nothing to release, when the device never ran out of memory. */
bool oom_find(struct oom *oom, struct report *report, const struct findings *device);
void oom_release(struct oom *oom);

/* "leak", "size", "fragmentation", "others". */
const char *oom_cause_name(enum oom_cause cause);

/* Why, in words: "a leak holds 928 MiB, without which it would have fit". */
const char *oom_cause_text(const struct oom *oom, const struct findings *device, char *buffer,
			   size_t size);

#endif
