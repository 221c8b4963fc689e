#include "launcher/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "launcher/child.h"
#include "launcher/locate.h"
#include "launcher/preload.h"
#include "launcher/run_options.h"
#include "launcher/say.h"
#include "launcher/traces.h"

/* One run of a program, from the command line to the report. */
struct run {
	struct run_options options;
	struct parts parts;
	struct environment environment; /* of the program */
	struct traces traces;
	uint64_t started; /* ns since 1970 */
	int report_to;	  /* -1: standard error */
	int json;	  /* -1: none wanted */
};

static int parts_check(const struct run *run)
{
	const char *missing = NULL;

	if (!run->options.no_trace && !run->parts.tracer)
		missing = "libgpuleak.so";
	else if (!run->options.no_trace && !run->parts.report)
		missing = "gpuleak-report";
	else if (run->options.sim && !run->parts.sim)
		missing = "sim/libgpuleak-sim.so";
	if (!missing)
		return 0;
	part_missing(missing);
	return -1;
}

static const char *out_of(const struct run *run)
{
	return run->options.out ? run->options.out : getenv("GPULEAK_OUT");
}

/*
 * Traces are looked for from our folder, so they must be written from it: what the
 * command starts may start in another one, as after `cd` in a script.
 */
static void environment_set_out(struct run *run)
{
	const char *out = out_of(run);
	char *folder = getcwd(NULL, 0);
	char *whole;

	if (!out)
		out = "";
	if (out[0] == '/' || !folder)
		whole = text_format("%s", out);
	else
		whole = text_format("%s/%s", folder, out);
	environment_set(&run->environment, "GPULEAK_OUT", whole);
	free(whole);
	free(folder);
}

/*
 * So that of several processes none takes another's name, and that of two runs at once none
 * reports the other's traces: see libgpuleak(7).  A run within another one is of that one, which
 * reports all of them.
 */
static void environment_set_start(struct run *run)
{
	const char *outer = getenv("GPULEAK_RUN_STARTED");
	struct timespec now;
	char *text;

	run->started = outer ? strtoull(outer, NULL, 10) : 0;
	if (run->started)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	text = text_format("%lld%09ld", (long long)now.tv_sec, now.tv_nsec);
	run->started = strtoull(text, NULL, 10);
	environment_set(&run->environment, "GPULEAK_RUN_STARTED", text);
	free(text);
}

static int environment_fill(struct run *run)
{
	const struct run_options *options = &run->options;

	if (preload_set(&run->environment, &run->parts, !options->no_trace, options->sim) < 0)
		return -1;
	if (!options->no_trace) {
		environment_set_out(run);
		environment_set_start(run);
	}
	if (options->devices)
		environment_set(&run->environment, "GPULEAK_SIM_DEVICES", options->devices);
	if (options->memory)
		environment_set(&run->environment, "GPULEAK_SIM_MEMORY", options->memory);
	return 0;
}

/* Opened before the program starts: found bad at once, and never yesterday's. */
static int output_open(const char *path, int *fd)
{
	*fd = -1;
	if (!path)
		return 0;
	*fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (*fd >= 0)
		return 0;
	say("cannot write %s: %s", path, strerror(errno));
	return -1;
}

static void add_option(struct names *argv, const char *option, const char *value)
{
	if (value)
		names_add(argv, text_format("%s=%s", option, value));
}

static void add_options(struct names *argv, const char *option, const struct names *values)
{
	for (size_t i = 0; i < values->count; i++)
		add_option(argv, option, values->items[i]);
}

/* A file that gpuleak-report can't read is found before the program starts, not after. */
static int files_check(const struct run *run)
{
	struct child_output output = {.out = -1, .err = -1};
	struct names argv = {0};
	struct child_end end;

	if (run->options.no_trace || (!run->options.suppressions.count && !run->options.baseline))
		return 0;
	output.out = open("/dev/null", O_WRONLY | O_CLOEXEC);
	names_add(&argv, text_format("%s", run->parts.report));
	add_options(&argv, "--suppressions", &run->options.suppressions);
	add_option(&argv, "--baseline", run->options.baseline);
	names_add(&argv, text_format("--version"));
	end = child_run(argv.items, NULL, output);
	names_release(&argv);
	if (output.out >= 0)
		close(output.out);
	return end.started && end.code == 0 ? 0 : -1;
}

static int report_make(const struct run *run, const struct names *traces, bool json, int to)
{
	struct child_output output = {.out = to, .err = -1};
	struct names argv = {0};
	struct child_end end;

	names_add(&argv, text_format("%s", run->parts.report));
	if (json)
		names_add(&argv, text_format("--json"));
	if (run->options.peak)
		names_add(&argv, text_format("--peak"));
	if (run->options.all)
		names_add(&argv, text_format("--all"));
	add_option(&argv, "--fail-on", run->options.fail_on);
	add_option(&argv, "--require-steps", run->options.require_steps);
	add_options(&argv, "--user-code", &run->options.user_code);
	add_options(&argv, "--suppressions", &run->options.suppressions);
	add_option(&argv, "--baseline", run->options.baseline);
	names_add(&argv, text_format("--"));
	for (size_t i = 0; i < traces->count; i++)
		names_add(&argv, text_format("%s", traces->items[i]));
	end = child_run(argv.items, NULL, output);
	if (end.signal)
		say("gpuleak-report was ended by signal %d (%s)", end.signal,
		    strsignal(end.signal));
	names_release(&argv);
	return end.started && !end.signal ? end.code : EXIT_NOT_DONE;
}

/* Text, and JSON when it is wanted.  The exit code of gpuleak-report. */
static int report(const struct run *run, const struct names *traces)
{
	int to = run->report_to >= 0 ? run->report_to : STDERR_FILENO;
	int code = report_make(run, traces, false, to);

	if (run->json >= 0) {
		int json_code = report_make(run, traces, true, run->json);

		if (json_code == EXIT_NOT_DONE)
			code = json_code;
	}
	return code;
}

/* Programs that start others elsewhere, or without the environment. */
static bool clears_environment(const char *command)
{
	static const char *const names[] = {"sudo",    "doas",	 "su",	      "ssh",
					    "docker",  "podman", "apptainer", "singularity",
					    "nerdctl", "kubectl"};
	const char *slash = strrchr(command, '/');

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(slash ? slash + 1 : command, names[i]) == 0)
			return true;
	}
	return false;
}

/* One line: there is nothing to report, and the likely reason. */
static void say_why_nothing(const struct run *run, const struct traces_written *written)
{
	const char *command = run->options.command[0];
	bool gpu = run->options.sim || access("/dev/nvidiactl", F_OK) == 0;

	if (written->running.count > 0)
		say("%s has ended, but a process it started still writes %s: gpuleak-report can "
		    "read that at any time",
		    command, written->running.items[0]);
	else if (clears_environment(command))
		say("no trace: %s does not hand LD_PRELOAD on to what it starts; put gpuleak run "
		    "behind it",
		    command);
	else if (!gpu)
		say("no trace of GPU memory: this machine has no NVIDIA GPU; add --sim to run on "
		    "the simulated one");
	else if (written->empty.count > 0)
		say("no trace of GPU memory: %s loaded PyTorch and put nothing on a GPU; "
		    "gpuleak-report %s says more",
		    command, written->empty.items[0]);
	else
		say("no trace: %s ended without using a GPU through PyTorch or a shared libcudart",
		    command);
}

/* Traces beside those that are reported. */
static void say_of_others(const struct traces_written *written)
{
	if (written->running.count > 0)
		say("not reported, since still being written: %s%s", written->running.items[0],
		    written->running.count > 1 ? " and others" : "");
	if (written->empty.count > 0)
		say("not reported, since without GPU events: %s%s", written->empty.items[0],
		    written->empty.count > 1 ? " and others" : "");
}

/* What came of a program that ended: the exit code of `gpuleak run`. */
static int conclude(struct run *run, struct child_end end)
{
	struct traces_written written;
	int code = EXIT_NOT_DONE;

	traces_collect(&run->traces, &written);
	if (written.whole.count == 0) {
		say_why_nothing(run, &written);
	} else {
		say_of_others(&written);
		code = report(run, &written.whole);
		if (code != 0)
			code += EXIT_OF_REPORT;
	}
	traces_written_release(&written);
	return end.code != 0 ? end.code : code;
}

/* What stands under a name; all zero for nothing. */
static struct file_identity identity_of(const char *path)
{
	struct stat st;

	if (!path || stat(path, &st) < 0)
		return (struct file_identity){0};
	return (struct file_identity){.device = st.st_dev, .inode = st.st_ino};
}

/* Make way for the traces of this run; a baseline must not be among what makes way. */
static int make_way(struct run *run)
{
	const char *baseline = run->options.baseline;
	struct file_identity before = identity_of(baseline), after;

	if (traces_make_way(&run->traces, out_of(run), run->started) < 0)
		return -1;
	after = identity_of(baseline);
	if (before.device == after.device && before.inode == after.inode)
		return 0;
	say("--baseline %s had the name of this run's trace and has been renamed: see %s.old",
	    baseline, baseline);
	return -1;
}

static int run_command(struct run *run)
{
	struct child_output as_ours = {-1, -1};
	struct child_end end;

	if (!run->options.no_trace && make_way(run) < 0)
		return EXIT_NOT_DONE;
	end = child_run(run->options.command, &run->environment, as_ours);
	if (!end.started || run->options.no_trace)
		return end.code;
	if (end.signal)
		say("%s was ended by signal %d (%s)", run->options.command[0], end.signal,
		    strsignal(end.signal));
	return conclude(run, end);
}

static int run_start(struct run *run)
{
	parts_find(&run->parts);
	if (parts_check(run) < 0 || files_check(run) < 0 || environment_fill(run) < 0 ||
	    output_open(run->options.report_to, &run->report_to) < 0 ||
	    output_open(run->options.json, &run->json) < 0)
		return EXIT_NOT_DONE;
	return run_command(run);
}

static void run_release(struct run *run)
{
	if (run->report_to >= 0)
		close(run->report_to);
	if (run->json >= 0)
		close(run->json);
	traces_release(&run->traces);
	environment_release(&run->environment);
	parts_release(&run->parts);
	run_options_release(&run->options);
}

int command_run(int argc, char **argv)
{
	struct run run = {.report_to = -1, .json = -1};
	int code = EXIT_NOT_DONE;

	if (run_options_parse(&run.options, argc, argv) == 0) {
		if (run.options.help) {
			run_options_help(stdout);
			code = 0;
		} else {
			code = run_start(&run);
		}
	}
	run_release(&run);
	return code;
}
