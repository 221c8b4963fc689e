#include "launcher/commands.h"

#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "launcher/child.h"
#include "launcher/locate.h"
#include "launcher/preload.h"
#include "launcher/probe.h"
#include "launcher/say.h"
#include "trace/layout.h"

enum state {
	STATE_OK,
	STATE_NO,
	STATE_LESS
};

static const char *const state_names[] = {"ok", "NO", "--"};

/* What was found, one line an item, printed after the answer. */
struct findings {
	struct names lines;
	char *obstacle; /* owned: the first thing that makes tracing impossible */
};

/* Takes over `text`. */
static void found(struct findings *findings, enum state state, const char *item, char *text)
{
	text_tame(text);
	names_add(&findings->lines, text_format("%-4s %-14s %s", state_names[state], item, text));
	if (state == STATE_NO && !findings->obstacle)
		findings->obstacle = text_format("%s: %s", item, text);
	free(text);
}

/* Does a program that preloads the tracer start as ever?  The loader only warns. */
static void check_tracer(struct findings *findings, const struct parts *parts)
{
	char *argv[] = {"/proc/self/exe", "version", NULL};
	const char *expected = "gpuleak " GPULEAK_VERSION "\n";
	struct environment environment = {0};
	struct child_end end;
	char text[4096];

	if (!parts->tracer) {
		found(findings, STATE_NO, "tracer",
		      text_format("libgpuleak.so is not there: run scripts/setup.sh"));
		return;
	}
	if (preload_set(&environment, parts, true, false) < 0)
		return;
	end = child_capture(argv, &environment, 10, text, sizeof(text));
	if (end.code == 0 && strcmp(text, expected) == 0)
		found(findings, STATE_OK, "tracer", text_format("%s", parts->tracer));
	else
		found(findings, STATE_NO, "tracer",
		      text_format("%.*s", (int)strcspn(text, "\n"), text));
	environment_release(&environment);
}

static void check_report(struct findings *findings, const struct parts *parts)
{
	if (parts->report)
		found(findings, STATE_OK, "reader", text_format("%s", parts->report));
	else
		found(findings, STATE_NO, "reader",
		      text_format("gpuleak-report is not there: run scripts/setup.sh"));
}

static void check_glibc(struct findings *findings)
{
	found(findings, STATE_OK, "glibc", text_format("%s", gnu_get_libc_version()));
}

static void check_libunwind(struct findings *findings)
{
	void *library = dlopen("libunwind.so.8", RTLD_LAZY | RTLD_LOCAL);

	if (library) {
		dlclose(library);
		found(findings, STATE_OK, "libunwind", text_format("libunwind.so.8"));
	} else {
		found(findings, STATE_LESS, "libunwind",
		      text_format("not there: no stacks of threads without Python (Debian, "
				  "Ubuntu: apt install libunwind8)"));
	}
}

static bool python_is_known(const char *version)
{
	int major = 0;
	int minor = 0;

	return sscanf(version, "%d.%d", &major, &minor) == 2 && major == 3 && minor >= 8 &&
	       minor <= 15;
}

/* False when there is no Python to ask further. */
static bool check_python(struct findings *findings, const char *python, const struct probe *probe)
{
	char *version = probe_value(probe, "python");
	char *executable = probe_value(probe, "executable");
	char *implementation = probe_value(probe, "implementation");
	char *complaint = probe_complaint(probe);
	bool runs;

	if (!version || !executable || !implementation)
		found(findings, STATE_NO, "python",
		      text_format("%s does not run: %s", python,
				  complaint ? complaint : "it says nothing"));
	else if (strcmp(implementation, "CPython") != 0)
		found(findings, STATE_LESS, "python",
		      text_format("%s is %s: native stacks only", executable, implementation));
	else if (!python_is_known(version))
		found(findings, STATE_LESS, "python",
		      text_format("%s at %s: its frames may be unknown to this gpuleak (3.8 to "
				  "3.15 are known)",
				  version, executable));
	else
		found(findings, STATE_OK, "python", text_format("%s at %s", version, executable));
	runs = version && executable && implementation;
	free(version);
	free(executable);
	free(implementation);
	free(complaint);
	return runs;
}

/* PyTorch with NVIDIA's libraries missing has a version only on the simulated GPU. */
static void check_torch(struct findings *findings, const struct probe *real,
			const struct probe *simulated)
{
	char *missing = probe_value(real, "missing");
	const struct probe *probe = missing ? simulated : real;
	char *torch = probe_value(probe, "torch");
	char *cuda = probe_value(probe, "cuda");
	char *hip = probe_value(probe, "hip");

	if (hip)
		found(findings, STATE_NO, "PyTorch",
		      text_format("%s is for ROCm: not supported", torch));
	else if (torch && cuda && strcmp(cuda, "None") != 0)
		found(findings, STATE_OK, "PyTorch", text_format("%s", torch));
	else if (torch)
		found(findings, STATE_NO, "PyTorch",
		      text_format("%s is built without CUDA: install a CUDA build", torch));
	else
		found(findings, STATE_NO, "PyTorch",
		      text_format("not in this Python (%s); name the one to check: gpuleak check "
				  "/path/to/python",
				  missing ? missing : "it did not come so far"));
	free(torch);
	free(cuda);
	free(hip);
	free(missing);
}

/* A GPU, real or simulated: is it there, and is what happens on it seen? */
static bool check_gpu(struct findings *findings, const char *item, const struct probe *probe)
{
	char *missing = probe_value(probe, "missing");
	char *name = probe_value(probe, "gpu");
	char *count = probe_value(probe, "gpus");
	char *memory = probe_value(probe, "memory");
	bool works = probe->ran && probe->traced && name && count && memory;

	if (works)
		found(findings, STATE_OK, item,
		      text_format("%s x %s, %.1f GiB; a tensor on it was traced", count, name,
				  strtod(memory, NULL) / 1024));
	else if (name && !probe->ran)
		found(findings, STATE_LESS, item,
		      text_format("%s: PyTorch cannot make a tensor on it", name));
	else if (name)
		found(findings, STATE_LESS, item,
		      text_format("%s: a tensor on it was not traced", name));
	else if (missing)
		found(findings, STATE_LESS, item,
		      text_format("none: import torch says %s", missing));
	else
		found(findings, STATE_LESS, item, text_format("none that PyTorch can use"));
	free(missing);
	free(name);
	free(count);
	free(memory);
	return works;
}

static void check_folder(struct findings *findings)
{
	struct statvfs space;
	char *folder = getcwd(NULL, 0);
	const char *name = folder ? folder : ".";

	if (access(".", W_OK) < 0 || statvfs(".", &space) < 0)
		found(findings, STATE_LESS, "folder",
		      text_format("%s: %s; the trace would go to /tmp, or name a place with --out",
				  name, strerror(errno)));
	else if ((uint64_t)space.f_bavail * space.f_frsize < LAYOUT_SIZE_DEFAULT)
		found(findings, STATE_LESS, "folder",
		      text_format("%s has no room for a trace of 64 MiB; name a place with --out",
				  name));
	else
		found(findings, STATE_OK, "folder", text_format("%s can hold the trace", name));
	free(folder);
}

static bool in_path(const char *program)
{
	const char *path = getenv("PATH");
	char *folders = text_format("%s", path ? path : "/usr/bin:/bin");
	char *rest = NULL;
	bool there = false;

	for (char *folder = strtok_r(folders, ":", &rest); folder && !there;
	     folder = strtok_r(NULL, ":", &rest)) {
		char *file = text_format("%s/%s", folder, program);

		there = access(file, X_OK) == 0;
		free(file);
	}
	free(folders);
	return there;
}

/* What follows `gpuleak check`. */
struct check_options {
	const char *python;
	bool sim, all;
};

static int check_options_parse(struct check_options *options, int argc, char **argv)
{
	*options = (struct check_options){0};
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--sim") == 0) {
			options->sim = true;
		} else if (strcmp(argv[i], "--all") == 0) {
			options->all = true;
		} else if (argv[i][0] == '-' || options->python) {
			say("check does not take %s: gpuleak check [--sim [--all]] [python]",
			    argv[i]);
			return -1;
		} else {
			options->python = argv[i];
		}
	}
	if (options->all && !options->sim) {
		say("check: --all names the functions that --sim lists: add --sim");
		return -1;
	}
	if (!options->python)
		options->python = in_path("python") ? "python" : "python3";
	return 0;
}

/* The first line is the answer. */
static int answer(const struct findings *findings, const char *python, bool gpu, bool sim)
{
	if (findings->obstacle)
		printf("gpuleak %s cannot trace here; %s\n", GPULEAK_VERSION, findings->obstacle);
	else if (gpu)
		printf("gpuleak %s works here: gpuleak run -- %s train.py\n", GPULEAK_VERSION,
		       python);
	else if (sim)
		printf("gpuleak %s works here on the simulated GPU: gpuleak run --sim -- %s "
		       "train.py\n",
		       GPULEAK_VERSION, python);
	else
		printf("gpuleak %s cannot trace here; no GPU works, and the simulated one does not "
		       "either\n",
		       GPULEAK_VERSION);
	for (size_t i = 0; i < findings->lines.count; i++)
		printf("  %s\n", findings->lines.items[i]);
	return !findings->obstacle && (gpu || sim) ? 0 : 1;
}

/* Everything that takes Python: two runs of the probe, `probes` being room for them. */
static void check_training(struct findings *findings, const struct parts *parts, const char *python,
			   struct probe probes[2], bool works[2])
{
	struct probe *real = &probes[0];
	struct probe *simulated = &probes[1];

	probe_run(real, python, parts, false);
	if (!check_python(findings, python, real))
		return;
	if (parts->sim)
		probe_run(simulated, python, parts, true);
	check_torch(findings, real, simulated);
	works[0] = check_gpu(findings, "GPU", real);
	if (parts->sim)
		works[1] = check_gpu(findings, "simulated GPU", simulated);
	else
		found(findings, STATE_LESS, "simulated GPU",
		      text_format("sim/libgpuleak-sim.so is not there: run scripts/setup.sh"));
}

static int check_machine(const char *python)
{
	struct findings findings = {0};
	struct probe *probes = calloc(2, sizeof(*probes));
	bool works[2] = {false, false};
	struct parts parts;
	int code;

	if (!probes)
		return EXIT_NOT_DONE;
	parts_find(&parts);
	check_tracer(&findings, &parts);
	check_report(&findings, &parts);
	check_glibc(&findings);
	check_libunwind(&findings);
	check_training(&findings, &parts, python, probes, works);
	check_folder(&findings);
	code = answer(&findings, python, works[0], works[1]);
	names_release(&findings.lines);
	free(findings.obstacle);
	parts_release(&parts);
	free(probes);
	return code;
}

int command_check(int argc, char **argv)
{
	struct check_options options;

	if (check_options_parse(&options, argc, argv) < 0)
		return EXIT_NOT_DONE;
	return options.sim ? check_sim(options.python, options.all) : check_machine(options.python);
}
