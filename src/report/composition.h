/*
 * What a device's memory was made of at one moment, by the user's line and kind.
 */
#ifndef GPULEAK_REPORT_COMPOSITION_H
#define GPULEAK_REPORT_COMPOSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/findings.h"
#include "report/kind.h"
#include "report/report.h"

struct composition_row {
	uint64_t bytes;
	uint32_t parts; /* call stacks */
	enum kind kind;
	struct place place;		  /* of the heaviest */
	const struct snapshot_site *site; /* borrowed: the heaviest */
	uint64_t weight;		  /* its bytes */
};

struct composition {
	struct composition_row *rows; /* owned, the largest first */
	size_t count;
	uint64_t total;	       /* allocated at that moment, as PyTorch counts */
	uint64_t unattributed; /* of these, of no row */
	uint64_t step;
	bool open; /* within the step under way: from the ring's events */
};

/* At the highest peak. */
void composition_of_peak(struct composition *composition, struct report *report,
			 const struct findings *device);

/* When the last allocation of the step under way could not be served. */
void composition_of_oom(struct composition *composition, struct report *report,
			const struct findings *device, uint64_t allocated);

void composition_release(struct composition *composition);

#endif
