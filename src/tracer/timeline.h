/*
 * A device's curve over the steps in a fixed number of entries: thinned, never cut.
 *
 * Entries are only appended within a half; when it is full, every two neighbours
 * become one in the other half.  So what a committed mark refers to stays as it was.
 */
#ifndef GPULEAK_TRACER_TIMELINE_H
#define GPULEAK_TRACER_TIMELINE_H

#include "trace/format.h"

/*
 * Add one step's entry.  `place` keeps timeline_half, timeline_count, timeline_shift and
 * `open`; the ledger's lock is held.
 */
void timeline_add(struct gpuleak_device_version *place, uint32_t device,
		  const struct gpuleak_timeline_entry *entry);

#endif
