/*
 * What piled up after the last mark.  An evaluation behind the training ends no step, so
 * no verdict is about it; that its memory grew is told all the same.
 */
#ifndef GPULEAK_REPORT_TAIL_H
#define GPULEAK_REPORT_TAIL_H

#include <stdbool.h>
#include <stdint.h>

#include "report/report.h"

struct tail {
	uint64_t bytes;	     /* at its highest, of all sites: allocated since the mark, not freed */
	uint64_t blocks;     /* of the site that held most of it */
	struct place place;  /* of that site */
	uint64_t after_step; /* the last mark */
};

/*
 * True where many blocks of one call stack were alive at once, much more than at the peak
 * of the steps counted: nothing that a step does was going on.
 */
bool tail_find(struct tail *tail, struct report *report, const struct findings *device);

#endif
