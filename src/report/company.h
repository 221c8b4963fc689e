/*
 * What else grows: inputs that grow with a curriculum have all that is computed from them for
 * company, a tensor that something is appended to has none.
 */
#ifndef GPULEAK_REPORT_COMPANY_H
#define GPULEAK_REPORT_COMPANY_H

#include <stddef.h>

#include "report/snapshot.h"

struct company {
	double *growths; /* owned, ascending: of the sites that allocate in each step and keep
			    nothing */
	size_t count;
};

/* company_release() gives back what it takes. */
void company_init(struct company *company, const struct snapshot *snapshot,
		  const struct snapshot_device *device);
void company_release(struct company *company);

#endif
