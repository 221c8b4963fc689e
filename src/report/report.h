/*
 * One trace, read and judged: what the outputs print.
 */
#ifndef GPULEAK_REPORT_REPORT_H
#define GPULEAK_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/code.h"
#include "report/findings.h"
#include "report/message.h"
#include "report/options.h"
#include "report/snapshot.h"
#include "report/verdict.h"
#include "report/verdict_host.h"

struct report {
	const char *path; /* borrowed */
	bool running;	  /* its writer lives */
	struct snapshot snapshot;
	struct code_map code;
	struct findings devices[GPULEAK_DEVICES_MAX];
	size_t device_count;
	struct verdict_host host;
	bool host_known;      /* the baseline has the verdict HOST, too */
	enum verdict verdict; /* the gravest of the devices and the host; SHORT without a device */
	uint64_t damaged;     /* records skipped */
};

/*
 * Read the trace at `path` and judge it.  `path` and `options` are borrowed for as
 * long as the report lives.
 *
 * Returns 0, or -1 with the reason in `why` and nothing to release.
 */
int report_init(struct report *report, const char *path, const struct options *options,
		struct message *why);
void report_release(struct report *report);

/* True when a finding bears a label that --fail-on names. */
bool report_fails(const struct report *report, const struct options *options);

/* The host's memory grows; the GPUs' is no graver. */
bool report_names_host(const struct report *report);

/* VERDICT_HOST, or VERDICT_STABLE. */
enum verdict report_host_label(const struct report *report);

/* Why a Python program's stacks are not Python's; empty when they are. */
struct text report_without_python(const struct report *report);

/* Why optimizers' steps aren't counted; nothing when they are, or could be. */
struct text report_without_optimizers(const struct report *report);

/* Why the report proves too little for a gate, one line; NULL when it proves enough. */
const char *report_proves_too_little(const struct report *report, const struct options *options,
				     struct message *why);

/* True when the process ended through exit and nothing was dropped or lost. */
bool report_complete(const struct report *report);

/* Allocations and frees seen, up to the last mark or in the ring. */
uint64_t report_events(const struct report *report);

/* Nanoseconds of the run that the report is of. */
uint64_t report_duration(const struct report *report);

/* The device of that gravity with the highest rate; NULL when there is none. */
const struct findings *report_gravest(const struct report *report);

#endif
