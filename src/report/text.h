/*
 * The report as text.
 */
#ifndef GPULEAK_REPORT_TEXT_H
#define GPULEAK_REPORT_TEXT_H

#include <stddef.h>

#include "report/composition.h"
#include "report/report.h"
#include "report/terminal.h"

/* Print one trace's report. */
void text_print(const struct terminal *terminal, struct report *report,
		const struct options *options);

/* Print one line per trace, before their reports: which of several leaks. */
void text_print_summary(const struct terminal *terminal, struct report *reports, size_t count,
			const struct options *options);

/* For text.c: the parts of a report, each with its line ends. */
void text_device(const struct terminal *terminal, struct report *report,
		 const struct findings *device, const struct options *options);
void text_finding(const struct terminal *terminal, struct report *report,
		  const struct findings *device, const struct finding *finding, size_t number);

/* When memory was not enough, if it ever was. */
void text_oom(const struct terminal *terminal, struct report *report,
	      const struct findings *device);

/*
 * The first line of a run that ended so; `named`: with the trace's path.  False, and
 * nothing printed, of another one.
 */
bool text_oom_leads(const struct terminal *terminal, struct report *report, bool named);

/* What the highest peak was made of. */
void text_peak(const struct terminal *terminal, struct report *report,
	       const struct findings *device, const struct options *options);

/* What is reserved and not used, why, and what helps; `at_oom`: when memory ran out. */
void text_segments(const struct terminal *terminal, struct report *report,
		   const struct findings *device, bool at_oom);

/* What piled up after the last mark, if anything did. */
void text_tail(const struct terminal *terminal, struct report *report,
	       const struct findings *device);

/* At most `max` rows of it. */
void text_composition(const struct terminal *terminal, const struct report *report,
		      const struct composition *composition, size_t max);

/* One line of a finding that counts nowhere, and why. */
void text_suppressed(const struct terminal *terminal, const struct report *report,
		     const struct finding *finding);

/* Print "known.txt:3: the reason", of a rule. */
void text_rule(const struct terminal *terminal, const struct rule *rule);

/* Print a line for each rule that no finding of any trace meets. */
void text_print_unused(const struct terminal *terminal, const struct rules *rules);

/* What there is to say of a device: how fast and until when, else the evidence. */
void text_device_sentence(const struct findings *device, char *sentence, size_t size);

/* Print "train.py:23 in train", shorter than the whole path where that is clear. */
void text_place(const struct terminal *terminal, const struct report *report,
		const struct gpuleak_frame *frame);

/* True of a finding that the report shows without --all. */
bool text_finding_shown(const struct findings *device, const struct finding *finding);

/* Findings of the device that rules suppress. */
size_t text_suppressed_count(const struct findings *device);

#endif
