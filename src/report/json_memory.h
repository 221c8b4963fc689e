/*
 * What memory was made of, as JSON: at the peak, and when it was not enough.
 */
#ifndef GPULEAK_REPORT_JSON_MEMORY_H
#define GPULEAK_REPORT_JSON_MEMORY_H

#include "report/json_value.h"
#include "report/report.h"

/* Add "oom": null where the device never ran out of memory. */
void json_add_oom(struct json *to, struct report *report, const struct findings *device);

/* Add "fragmentation": what is reserved and not used, and why; null where it isn't known. */
void json_add_fragmentation(struct json *to, struct report *report, const struct findings *device,
			    bool at_oom);

/* Add "after_last_step": what piled up there; null where nothing did. */
void json_add_tail(struct json *to, struct report *report, const struct findings *device);

/* Add "peak". */
void json_add_peak(struct json *to, struct report *report, const struct findings *device);

#endif
