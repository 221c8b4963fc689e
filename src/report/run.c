#include "report/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/baseline.h"
#include "report/diff.h"
#include "report/escape.h"
#include "report/json.h"
#include "report/memory.h"
#include "report/options.h"
#include "report/report.h"
#include "report/terminal.h"
#include "report/text.h"

enum exit_code {
	EXIT_NOTHING_FOUND = 0,
	EXIT_FOUND = 1,
	EXIT_NO_REPORT = 2,
	EXIT_PROVES_TOO_LITTLE = 3,
};

/* One line on stderr; names in it may hold anything. */
static void complain(const struct message *why)
{
	fputs("gpuleak-report: ", stderr);
	escape_print(stderr, (struct text){why->text, strlen(why->text)});
	fputc('\n', stderr);
}

static void print_text(struct report *reports, size_t count, const struct options *options)
{
	struct terminal terminal;

	terminal_init(&terminal, stdout, options->colour);
	if (count > 1)
		text_print_summary(&terminal, reports, count, options);
	for (size_t i = 0; i < count; i++) {
		if (i)
			fputs("\n\n", stdout);
		text_print(&terminal, &reports[i], options);
	}
	text_print_unused(&terminal, options->rules);
}

/* A run beside itself would show nothing new, whatever it leaks. */
static int check_baseline(const struct options *options, struct message *why)
{
	struct stat base, trace;

	if (stat(options->baseline, &base) < 0)
		return message_errno(why, "%s", options->baseline);
	for (size_t i = 0; i < options->path_count; i++)
		if (stat(options->paths[i], &trace) == 0 && trace.st_dev == base.st_dev &&
		    trace.st_ino == base.st_ino)
			return message_set(why, "%s: is the trace, and its own baseline",
					   options->baseline);
	return 0;
}

static enum exit_code judge(const struct report *reports, size_t count,
			    const struct options *options)
{
	enum exit_code code = EXIT_NOTHING_FOUND;
	struct message why;

	for (size_t i = 0; i < count; i++) {
		if (report_fails(&reports[i], options))
			return EXIT_FOUND;
		if (report_proves_too_little(&reports[i], options, &why))
			code = EXIT_PROVES_TOO_LITTLE;
	}
	return code;
}

static enum exit_code diff_both(struct report *before, struct report *after,
				const struct options *options)
{
	struct terminal terminal;
	struct message why;
	struct diff diff;
	bool fails;

	diff_init(&diff, before, after);
	if (options->json) {
		diff_print_json(stdout, &diff);
	} else {
		terminal_init(&terminal, stdout, options->colour);
		diff_print_text(&terminal, &diff, options);
	}
	fails = diff_fails(&diff, options);
	diff_release(&diff);
	if (fails)
		return EXIT_FOUND;
	if (report_proves_too_little(before, options, &why) ||
	    report_proves_too_little(after, options, &why)) {
		complain(&why);
		return EXIT_PROVES_TOO_LITTLE;
	}
	return EXIT_NOTHING_FOUND;
}

/* Two runs side by side.  `options->paths` has two. */
static enum exit_code report_diff(const struct options *options)
{
	struct report before, after;
	enum exit_code code = EXIT_NO_REPORT;
	struct message why;

	if (report_init(&before, options->paths[0], options, &why) < 0) {
		complain(&why);
		return EXIT_NO_REPORT;
	}
	if (report_init(&after, options->paths[1], options, &why) < 0) {
		complain(&why);
	} else {
		code = diff_both(&before, &after, options);
		report_release(&after);
	}
	report_release(&before);
	return code;
}

static enum exit_code report_all(const struct options *options, struct baseline *baseline)
{
	struct report *reports = memory_new(options->path_count, sizeof(*reports));
	enum exit_code code = EXIT_NOTHING_FOUND;
	bool bad = false;
	size_t count = 0;

	for (size_t i = 0; i < options->path_count; i++) {
		struct message why;

		if (report_init(&reports[count], options->paths[i], options, &why) == 0) {
			if (baseline->path)
				baseline_compare(baseline, &reports[count]);
			count++;
			continue;
		}
		complain(&why);
		bad = true;
	}
	if (count && options->json)
		json_print(stdout, reports, count, options->path_count > 1, options);
	else if (count)
		print_text(reports, count, options);
	code = bad ? EXIT_NO_REPORT : judge(reports, count, options);
	for (size_t i = 0; i < count; i++)
		report_release(&reports[i]);
	free(reports);
	return code;
}

/* What is named on the command line is read first, so that it can be checked by itself. */
static enum exit_code run(const struct options *options)
{
	struct baseline baseline = {0};
	enum exit_code code = EXIT_NOTHING_FOUND;
	struct message why;

	if (options->baseline && (check_baseline(options, &why) < 0 ||
				  baseline_read(&baseline, options->baseline, options, &why) < 0)) {
		complain(&why);
		return EXIT_NO_REPORT;
	}
	if (options->what == OPTIONS_HELP)
		fputs(options_help, stdout);
	else if (options->what == OPTIONS_VERSION)
		puts("gpuleak-report " GPULEAK_VERSION);
	else if (options->diff)
		code = report_diff(options);
	else
		code = report_all(options, &baseline);
	baseline_release(&baseline);
	return code;
}

int report_run(int argc, char **argv)
{
	enum exit_code code;
	struct options options;
	struct message why;

	if (options_init(&options, argc, argv, &why) < 0) {
		complain(&why);
		return EXIT_NO_REPORT;
	}
	code = run(&options);
	options_release(&options);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		complain(&(struct message){"can't write the report"});
		return EXIT_NO_REPORT;
	}
	return code;
}
