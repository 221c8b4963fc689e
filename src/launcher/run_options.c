#include "launcher/run_options.h"

#include <getopt.h>
#include <regex.h>
#include <stddef.h>
#include <string.h>

#include "launcher/say.h"

enum run_option_id {
#define RUN_OPTION(id, name, argument, help) RUN_##id = 256 + __COUNTER__,
#include "launcher/run_options.def"
#undef RUN_OPTION
};

static const struct option long_options[] = {
#define RUN_OPTION(id, name, argument, help) \
	{name, (argument) ? required_argument : no_argument, NULL, RUN_##id},
#include "launcher/run_options.def"
#undef RUN_OPTION
	{0},
};

static const struct {
	const char *name;
	const char *argument;
	const char *help;
} help_lines[] = {
#define RUN_OPTION(id, name, argument, help) {name, argument, help},
#include "launcher/run_options.def"
#undef RUN_OPTION
};

void run_options_help(FILE *to)
{
	fputs("Usage: gpuleak run [options] [--] command [argument...]\n\n"
	      "Runs the command, unchanged, with the tracer in it; then reports on its GPU "
	      "memory.\n\n",
	      to);
	for (size_t i = 0; i < sizeof(help_lines) / sizeof(help_lines[0]); i++) {
		const char *argument = help_lines[i].argument ? help_lines[i].argument : "";
		int used = fprintf(to, "  --%s%s%s", help_lines[i].name, *argument ? " " : "",
				   argument);

		fprintf(to, "%*s%s\n", used < 24 ? 24 - used : 1, "", help_lines[i].help);
	}
	fputs("\nThe report goes to standard error: the command's own output stays as it is.\n\n"
	      "Exit code: the command's own when it is not 0 (128 + N after signal N); else 0, or\n"
	      "gpuleak-report's + 100: 101 for a finding that --fail-on names, 102 for a trace "
	      "that\n"
	      "cannot be read, 103 for one that proves too little.  2: the command wrote no "
	      "trace,\n"
	      "or used no GPU.\n",
	      to);
}

static bool matches(const char *text, const char *pattern)
{
	regex_t compiled;
	bool match;

	if (regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB | REG_ICASE) != 0)
		return false;
	match = regexec(&compiled, text, 0, NULL, 0) == 0;
	regfree(&compiled);
	return match;
}

/* The simulated GPU would take its default after a complaint; a gate must not. */
static int check(const struct run_options *options)
{
	static const char number[] = "^[0-9]{1,9}$";
	static const char sizes[] = "^[0-9]+(\\.[0-9]+)?([KMGT](i?B)?)?"
				    "(,[0-9]+(\\.[0-9]+)?([KMGT](i?B)?)?)*$";

	if ((options->devices || options->memory) && !options->sim) {
		say("--devices and --memory describe the simulated GPU: add --sim");
		return -1;
	}
	if (options->devices && !matches(options->devices, number)) {
		say("--devices %s: not a number", options->devices);
		return -1;
	}
	if (options->memory && !matches(options->memory, sizes)) {
		say("--memory %s: not a size like 24G", options->memory);
		return -1;
	}
	if (options->require_steps && !matches(options->require_steps, number)) {
		say("--require-steps %s: not a number", options->require_steps);
		return -1;
	}
	if (!options->help && !options->command[0]) {
		say("run what?  gpuleak run [options] -- python train.py");
		return -1;
	}
	return 0;
}

static int take(struct run_options *options, int id, const char *argument)
{
	switch ((enum run_option_id)id) {
	case RUN_SIM:
		options->sim = true;
		return 0;
	case RUN_DEVICES:
		options->devices = argument;
		return 0;
	case RUN_MEMORY:
		options->memory = argument;
		return 0;
	case RUN_NO_TRACE:
		options->no_trace = true;
		return 0;
	case RUN_OUT:
		options->out = argument;
		return 0;
	case RUN_FAIL_ON:
		options->fail_on = argument;
		return 0;
	case RUN_REQUIRE_STEPS:
		options->require_steps = argument;
		return 0;
	case RUN_USER_CODE:
		names_add(&options->user_code, text_format("%s", argument));
		return 0;
	case RUN_SUPPRESSIONS:
		names_add(&options->suppressions, text_format("%s", argument));
		return 0;
	case RUN_BASELINE:
		options->baseline = argument;
		return 0;
	case RUN_PEAK:
		options->peak = true;
		return 0;
	case RUN_ALL:
		options->all = true;
		return 0;
	case RUN_REPORT_TO:
		options->report_to = argument;
		return 0;
	case RUN_JSON:
		options->json = argument;
		return 0;
	case RUN_HELP:
		options->help = true;
		return 0;
	}
	return -1;
}

int run_options_parse(struct run_options *options, int argc, char **argv)
{
	int id;

	*options = (struct run_options){0};
	opterr = 0;
	optind = 0;
	/* '+': the command's own options are not ours.  ':': its argument is missing. */
	while ((id = getopt_long(argc, argv, "+:h", long_options, NULL)) != -1) {
		if (id == ':') {
			say("%s needs a value; see gpuleak help run", argv[optind - 1]);
			return -1;
		}
		if (id == 'h')
			id = RUN_HELP;
		if (take(options, id, optarg) < 0) {
			say("run has no option %s; see gpuleak help run", argv[optind - 1]);
			return -1;
		}
	}
	options->command = argv + optind;
	return check(options);
}

void run_options_release(struct run_options *options)
{
	names_release(&options->user_code);
	names_release(&options->suppressions);
}
