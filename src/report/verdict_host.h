/*
 * The verdicts on memory that has no sites: the process's own, and what CUDA gives to
 * others than PyTorch and cudaMalloc's callers.  Does it grow round after round?
 * docs/how-verdicts-work.md, "The host and the driver".  Plain data in, plain data out, total on
 * any bytes.
 */
#ifndef GPULEAK_REPORT_VERDICT_HOST_H
#define GPULEAK_REPORT_VERDICT_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"

/* One of the two kinds: memory of the process's own, or pinned. */
struct verdict_growth {
	bool grows;
	double bytes;	       /* by which it grew ... */
	uint64_t steps;	       /* ... over so many */
	double bytes_per_step; /* 0 unless it grows */
};

struct verdict_host {
	struct verdict_growth own;
	struct verdict_growth pinned;
};

/* `now` is the last mark; `version` all zero where nothing is known. */
void verdict_host(struct verdict_host *verdict, const struct gpuleak_host_version *version,
		  uint64_t now);

/* One sentence without a full stop; as verdict_site_sentence(). */
size_t verdict_host_sentence(const struct verdict_host *verdict, char *buffer, size_t size);

/*
 * What the program heard from cudaMemGetInfo(), less what PyTorch reserved and cudaMalloc
 * gave: does that grow?  `version` all zero where the program never asked.
 */
void verdict_driver(struct verdict_growth *growth, const struct gpuleak_driver_version *version,
		    uint64_t now);
size_t verdict_driver_sentence(const struct verdict_growth *growth, char *buffer, size_t size);

#endif
