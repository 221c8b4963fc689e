#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/commands.h"
#include "launcher/loader_path.h"
#include "launcher/locate.h"
#include "launcher/run_options.h"
#include "launcher/say.h"

static int command_help(int argc, char **argv);
static int command_version(int argc, char **argv);

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{"run", command_run, "run a program with the tracer in it, and report"},
	{"lib", command_lib, "print the tracer's path, for LD_PRELOAD=$(gpuleak lib)"},
	{"check", command_check,
	 "say what works on this machine; with --sim, what the simulated GPU\n"
	 "            has of the functions that PyTorch imports from CUDA"},
	{"help", command_help, "explain a command: gpuleak help run"},
	{"version", command_version, "print the version"},
};

static void help(FILE *to)
{
	fputs("gpuleak finds the line of a PyTorch training that leaks GPU memory.\n\n"
	      "  gpuleak run -- python train.py        run it, then report\n"
	      "  gpuleak run --sim -- python train.py  the same without a GPU\n\n"
	      "Commands:\n",
	      to);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		fprintf(to, "  %-9s %s\n", commands[i].name, commands[i].help);
	fputs("\nOptions:\n"
	      "  --help     show this\n"
	      "  --version  print the version\n\n"
	      "Manuals: gpuleak(1), gpuleak-report(1), libgpuleak(7), gpuleak-trace(5).\n",
	      to);
}

static int command_version(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	puts("gpuleak " GPULEAK_VERSION);
	return 0;
}

static int command_help(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "run") == 0)
		run_options_help(stdout);
	else
		help(stdout);
	return 0;
}

int command_lib(int argc, char **argv)
{
	struct parts parts;
	char *path = NULL;

	(void)argc;
	(void)argv;
	parts_find(&parts);
	if (parts.tracer)
		path = loader_path(parts.tracer);
	else
		part_missing("libgpuleak.so");
	if (path)
		puts(path);
	parts_release(&parts);
	if (!path)
		return EXIT_NOT_DONE;
	free(path);
	return 0;
}

static const struct command *command_find(const char *name)
{
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		name = "help";
	else if (strcmp(name, "--version") == 0)
		name = "version";
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(name, commands[i].name) == 0)
			return &commands[i];
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct command *command;
	int code;

	if (argc < 2) {
		help(stderr);
		return EXIT_NOT_DONE;
	}
	command = command_find(argv[1]);
	if (!command) {
		say("no command %s; see gpuleak --help", argv[1]);
		return EXIT_NOT_DONE;
	}
	code = command->run(argc - 1, argv + 1);
	if (fflush(stdout) != 0 && code == 0) {
		say("cannot write to standard output");
		return EXIT_NOT_DONE;
	}
	return code;
}
