/*
 * An earlier run, and which findings of a report it has too.  Findings are the same
 * when their keys are: files and functions, no line numbers.
 */
#ifndef GPULEAK_REPORT_BASELINE_H
#define GPULEAK_REPORT_BASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/findings.h"
#include "report/message.h"
#include "report/options.h"
#include "report/report.h"

/* One finding of the earlier run. */
struct baseline_entry {
	char *key; /* owned */
	enum verdict label;
	double amount;		       /* see baseline_amount() */
	const struct finding *finding; /* borrowed from its report; NULL: it was JSON */
	uint32_t source;	       /* which device of which trace */
	bool taken;		       /* by a finding of the device under comparison */
};

struct baseline {
	const char *path;		/* borrowed */
	struct baseline_entry *entries; /* owned, by key, source and falling amount */
	size_t count;
	uint32_t sources;
	uint32_t device_labels; /* 1 << label of each device's verdict */
	bool host;		/* the verdict HOST is among them */
	uint64_t steps;		/* of the longest trace */
};

/*
 * Read a trace, or a report in JSON.  Returns 0, or -1 with the reason in `why` and
 * nothing to release.  Any bytes give one or the other.
 */
int baseline_read(struct baseline *baseline, const char *path, const struct options *options,
		  struct message *why);
void baseline_release(struct baseline *baseline);

/* Set `state`, `before` and `earlier` of the report's findings. */
void baseline_compare(struct baseline *baseline, struct report *report);

/* The parts of it, for one device: add its findings, settle once, compare. */
void baseline_add_device(struct baseline *baseline, struct report *report,
			 const struct findings *device);
void baseline_settle(struct baseline *baseline);
void baseline_compare_device(struct baseline *baseline, struct report *report,
			     struct findings *device);

/* For baseline.c, in baseline_json.c: add the findings of a report in JSON. */
int baseline_read_json(struct baseline *baseline, const char *bytes, size_t size,
		       struct message *why);

/* Add a copy of an entry; more than there is room for are left out. */
void baseline_add(struct baseline *baseline, const struct baseline_entry *entry);

/* Bytes a step of LEAK and GROWING, bytes of JUMP; 0 of others: they come and go. */
double baseline_amount(enum verdict label, double bytes_per_step, double bytes);

#endif
