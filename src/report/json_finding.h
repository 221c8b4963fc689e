/*
 * One finding as JSON.
 */
#ifndef GPULEAK_REPORT_JSON_FINDING_H
#define GPULEAK_REPORT_JSON_FINDING_H

#include "report/json_value.h"
#include "report/report.h"

/* An object of its own, owned by the caller. */
struct json *json_finding(struct report *report, const struct finding *finding);

/* Add a stack's frames as the array `name`; a damaged stack is an empty one. */
void json_add_stack(struct json *to, const char *name, const struct snapshot *snapshot,
		    const struct stack *stack);

/* Add where a frame is as the object `name`; null where `frame` is NULL. */
void json_add_where(struct json *to, const char *name, const struct snapshot *snapshot,
		    const struct gpuleak_frame *frame);

#endif
