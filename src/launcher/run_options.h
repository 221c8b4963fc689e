/* The command line of `gpuleak run`. */
#ifndef GPULEAK_LAUNCHER_RUN_OPTIONS_H
#define GPULEAK_LAUNCHER_RUN_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "launcher/say.h"

/* Texts are borrowed from argv, but for the list; NULL: not given. */
struct run_options {
	bool sim;
	bool no_trace;
	bool all;
	bool peak;
	bool help;
	const char *devices;
	const char *memory;
	const char *out;
	const char *fail_on;
	const char *require_steps;
	struct names user_code;	   /* owned list of copies */
	struct names suppressions; /* the same */
	const char *baseline;
	const char *report_to;
	const char *json;
	char **command; /* of the program, NULL-terminated; never empty unless `help` */
};

/* argv[0] is "run".  Returns 0, or -1 after saying what is wrong. */
int run_options_parse(struct run_options *options, int argc, char **argv);
void run_options_release(struct run_options *options);

void run_options_help(FILE *to);

#endif
