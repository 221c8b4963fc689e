/*
 * The report as JSON, for programs: the fields of docs/man/gpuleak-report.1.
 */
#ifndef GPULEAK_REPORT_JSON_H
#define GPULEAK_REPORT_JSON_H

#include <stddef.h>
#include <stdio.h>

#include "report/report.h"

/* Print one object: of the only report, or, with `several`, of all of them. */
void json_print(FILE *out, struct report *reports, size_t count, bool several,
		const struct options *options);

#endif
