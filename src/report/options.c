#include "report/options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/memory.h"
#include "report/verdict.h"

const char options_help[] =
	"Usage: gpuleak-report [OPTION]... TRACE...\n"
	"Say whether a PyTorch run leaked GPU memory, and which line did.\n"
	"\n"
	"      --json               print JSON instead of text\n"
	"      --all                show every site, also those that keep nothing\n"
	"      --max-findings N     show at most N findings of a device in the text (default 20)\n"
	"      --peak               show what the highest peak was made of, by line and kind\n"
	"      --user-code PATTERN  code there is yours too: a shell pattern, a folder's path\n"
	"                           or a package's name; may be repeated\n"
	"      --suppressions FILE  what is known of findings, and why: gpuleak-suppressions(5);\n"
	"                           may be repeated\n"
	"      --baseline FILE      an earlier trace or report in JSON: fail only on what is\n"
	"                           new or faster\n"
	"      --diff                compare two traces, the earlier one first\n"
	"      --fail-on LIST       exit with 1 when there is one of these verdicts, by commas\n"
	"                           (default leak), or none\n"
	"      --require-steps N    exit with 3 when the trace has fewer steps\n"
	"      --color WHEN         auto (default), always or never; NO_COLOR is obeyed\n"
	"      --help               print this\n"
	"      --version            print the version\n"
	"\n"
	"Exit status: 0 no finding that --fail-on names, 1 there is one, 2 no report,\n"
	"3 a report that proves too little.\n";

enum {
	OPTION_JSON = 256,
	OPTION_ALL,
	OPTION_MAX_FINDINGS,
	OPTION_USER_CODE,
	OPTION_SUPPRESSIONS,
	OPTION_BASELINE,
	OPTION_DIFF,
	OPTION_PEAK,
	OPTION_FAIL_ON,
	OPTION_REQUIRE_STEPS,
	OPTION_COLOR,
	OPTION_HELP,
	OPTION_VERSION,
};

static const struct option long_options[] = {
	{"json", no_argument, NULL, OPTION_JSON},
	{"all", no_argument, NULL, OPTION_ALL},
	{"max-findings", required_argument, NULL, OPTION_MAX_FINDINGS},
	{"peak", no_argument, NULL, OPTION_PEAK},
	{"user-code", required_argument, NULL, OPTION_USER_CODE},
	{"suppressions", required_argument, NULL, OPTION_SUPPRESSIONS},
	{"baseline", required_argument, NULL, OPTION_BASELINE},
	{"diff", no_argument, NULL, OPTION_DIFF},
	{"fail-on", required_argument, NULL, OPTION_FAIL_ON},
	{"require-steps", required_argument, NULL, OPTION_REQUIRE_STEPS},
	{"color", required_argument, NULL, OPTION_COLOR},
	{"help", no_argument, NULL, OPTION_HELP},
	{"version", no_argument, NULL, OPTION_VERSION},
	{NULL, 0, NULL, 0},
};

static int take_number(uint64_t *number, const char *option, const char *text, struct message *why)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	if (errno || end == text || *end || text[0] == '-')
		return message_set(why, "%s %s: not a number", option, text);
	return 0;
}

static int take_fail_on(struct options *options, const char *text, struct message *why)
{
	char name[32];

	options->fail_on = 0;
	if (strcmp(text, "none") == 0)
		return 0;
	for (;;) {
		size_t size = strcspn(text, ",");
		enum verdict label;

		if (size < sizeof(name)) {
			memcpy(name, text, size);
			name[size] = '\0';
		}
		if (size >= sizeof(name) || !verdict_by_name(name, &label))
			return message_set(why, "--fail-on: no verdict is called %.*s",
					   size < 100 ? (int)size : 100, text);
		options->fail_on |= 1u << label;
		if (!text[size])
			return 0;
		text += size + 1;
	}
}

static int take_colour(struct options *options, const char *text, struct message *why)
{
	static const char *const names[] = {"auto", "always", "never"};

	for (unsigned i = 0; i < 3; i++) {
		if (strcmp(text, names[i]) == 0) {
			options->colour = (enum colour_choice)i;
			return 0;
		}
	}
	return message_set(why, "--color %s: auto, always or never", text);
}

/* Read at once, so that a file can be checked by itself: with --version behind it. */
static int take_suppressions(struct options *options, const char *path, struct message *why)
{
	if (!options->rules)
		options->rules = memory_new(1, sizeof(*options->rules));
	return rules_read(options->rules, path, why);
}

static int take_option(struct options *options, int option, struct message *why)
{
	switch (option) {
	case OPTION_JSON:
		options->json = true;
		return 0;
	case OPTION_ALL:
		options->all = true;
		return 0;
	case OPTION_MAX_FINDINGS:
		return take_number(&options->max_findings, "--max-findings", optarg, why);
	case OPTION_PEAK:
		options->peak = true;
		return 0;
	case OPTION_USER_CODE:
		options->user_code[options->user_code_count++] = optarg;
		return 0;
	case OPTION_SUPPRESSIONS:
		return take_suppressions(options, optarg, why);
	case OPTION_BASELINE:
		options->baseline = optarg;
		return 0;
	case OPTION_DIFF:
		options->diff = true;
		return 0;
	case OPTION_FAIL_ON:
		return take_fail_on(options, optarg, why);
	case OPTION_REQUIRE_STEPS:
		return take_number(&options->require_steps, "--require-steps", optarg, why);
	case OPTION_COLOR:
		return take_colour(options, optarg, why);
	case OPTION_HELP:
		options->what = OPTIONS_HELP;
		return 0;
	default:
		options->what = OPTIONS_VERSION;
		return 0;
	}
}

static int read_arguments(struct options *options, int argc, char **argv, struct message *why)
{
	opterr = 0;
	optind = 0;
	for (;;) {
		int option = getopt_long(argc, argv, ":", long_options, NULL);

		if (option == -1)
			break;
		if (option == ':')
			return message_set(why, "%s: needs a value", argv[optind - 1]);
		if (option == '?' && optopt && optopt < 128)
			return message_set(why, "-%c: no such option; --help lists them", optopt);
		if (option == '?')
			return message_set(why,
					   optopt ? "%s: takes no value"
						  : "%s: no such option; --help lists them",
					   argv[optind - 1]);
		if (take_option(options, option, why) < 0)
			return -1;
		if (options->what != OPTIONS_REPORT)
			return 0;
	}
	if (optind >= argc)
		return message_set(why, "no trace given; try: gpuleak-report trace.bin");
	options->paths = argv + optind;
	options->path_count = (size_t)(argc - optind);
	if (options->diff && options->path_count != 2)
		return message_set(why, "--diff: compares two traces, not %zu",
				   options->path_count);
	if (options->diff && options->baseline)
		return message_set(why, "--diff: has its baseline, the first trace");
	return 0;
}

int options_init(struct options *options, int argc, char **argv, struct message *why)
{
	*options = (struct options){
		.fail_on = 1u << VERDICT_LEAK,
		.max_findings = 20,
		.user_code = memory_new((size_t)argc, sizeof(char *)),
	};
	if (read_arguments(options, argc, argv, why) == 0)
		return 0;
	options_release(options);
	return -1;
}

void options_release(struct options *options)
{
	free(options->user_code);
	options->user_code = NULL;
	options->user_code_count = 0;
	if (options->rules)
		rules_release(options->rules);
	free(options->rules);
	options->rules = NULL;
}
