/*
 * The command line of gpuleak-report.
 */
#ifndef GPULEAK_REPORT_OPTIONS_H
#define GPULEAK_REPORT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/message.h"
#include "report/rules.h"

enum colour_choice {
	COLOUR_AUTO = 0, /* on a terminal, unless NO_COLOR is set */
	COLOUR_ALWAYS = 1,
	COLOUR_NEVER = 2,
};

enum options_what {
	OPTIONS_REPORT = 0,
	OPTIONS_HELP = 1,
	OPTIONS_VERSION = 2,
};

struct options {
	enum options_what what;
	bool json;
	bool all; /* also what is no news */
	enum colour_choice colour;
	bool peak;	      /* show what it was made of */
	bool diff;	      /* of the first trace and the second */
	const char *baseline; /* borrowed from argv; NULL: none */
	uint32_t fail_on;     /* 1 << label for each */
	uint64_t require_steps;
	uint64_t max_findings;	/* of a device, in the text */
	const char **user_code; /* owned array of borrowed patterns */
	size_t user_code_count;
	struct rules *rules; /* owned: those of --suppressions; NULL: none */
	char **paths;	     /* borrowed from argv */
	size_t path_count;
};

/*
 * Read the arguments of main().  Returns 0, or -1 with the reason in `why` and
 * nothing to release.
 */
int options_init(struct options *options, int argc, char **argv, struct message *why);
void options_release(struct options *options);

/* What --help prints. */
extern const char options_help[];

#endif
