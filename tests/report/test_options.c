/* The command line. */
#include "report/options.h"

#include "report/verdict.h"
#include "test_files.h"

enum {
	ARGUMENTS_MAX = 8
};

/* Read `line`, arguments with single spaces between, behind the program's name. */
static int read_line(struct options *options, const char *line, struct message *why)
{
	static char copy[256];
	static char *argv[ARGUMENTS_MAX + 2];
	int argc = 1;
	char *rest = copy;

	snprintf(copy, sizeof(copy), "%s", line);
	argv[0] = (char *)(uintptr_t) "gpuleak-report";
	while (rest && *rest && argc <= ARGUMENTS_MAX)
		argv[argc++] = strsep(&rest, " ");
	argv[argc] = NULL;
	return options_init(options, argc, argv, why);
}

static void expect_refused(const char *line, const char *expected)
{
	struct options options;
	struct message why = {""};

	EXPECT_U64(read_line(&options, line, &why), -1);
	EXPECT_STR(why.text, expected);
}

static void bad_lines_are_refused(void)
{
	expect_refused("", "no trace given; try: gpuleak-report trace.bin");
	expect_refused("--jsn t", "--jsn: no such option; --help lists them");
	expect_refused("-j t", "-j: no such option; --help lists them");
	expect_refused("--json=1 t", "--json=1: takes no value");
	expect_refused("--fail-on leak,bug t", "--fail-on: no verdict is called bug");
	expect_refused("--fail-on LEAK t", "--fail-on: no verdict is called LEAK");
	expect_refused("--fail-on leak, t", "--fail-on: no verdict is called ");
	expect_refused("t --fail-on", "--fail-on: needs a value");
	expect_refused("--require-steps -1 t", "--require-steps -1: not a number");
	expect_refused("--require-steps 1x t", "--require-steps 1x: not a number");
	expect_refused("--require-steps 99999999999999999999 t",
		       "--require-steps 99999999999999999999: not a number");
	expect_refused("--color=red t", "--color red: auto, always or never");
}

static void good_lines_are_read(void)
{
	struct options options;
	struct message why;

	EXPECT_U64(read_line(&options, "a.bin b.bin", &why), 0);
	EXPECT_U64(options.fail_on, 1u << VERDICT_LEAK);
	EXPECT_U64(options.path_count, 2);
	EXPECT_STR(options.paths[1], "b.bin");
	options_release(&options);

	EXPECT_U64(read_line(&options,
			     "--fail-on=leak,growing --json t --user-code x --user-code=y --all",
			     &why),
		   0);
	EXPECT_U64(options.fail_on, 1u << VERDICT_LEAK | 1u << VERDICT_GROWING);
	EXPECT(options.json && options.all);
	EXPECT_U64(options.path_count, 1);
	EXPECT_U64(options.user_code_count, 2);
	EXPECT_STR(options.user_code[1], "y");
	options_release(&options);

	EXPECT_U64(read_line(&options, "--fail-on none --require-steps 200 t", &why), 0);
	EXPECT_U64(options.fail_on, 0);
	EXPECT_U64(options.require_steps, 200);
	options_release(&options);

	EXPECT_U64(read_line(&options, "--help", &why), 0);
	EXPECT_U64(options.what, OPTIONS_HELP);
	options_release(&options);
}

int main(void)
{
	bad_lines_are_refused();
	good_lines_are_read();
	return test_result();
}
