/* What `gpuleak COMMAND` does.  argv[0] is the command; each returns the exit code. */
#ifndef GPULEAK_LAUNCHER_COMMANDS_H
#define GPULEAK_LAUNCHER_COMMANDS_H

#include <stdbool.h>

enum {
	EXIT_NOT_DONE = 2,    /* bad usage, a part is missing, or the program wrote no trace */
	EXIT_OF_REPORT = 100, /* added to what gpuleak-report says */
};

int command_run(int argc, char **argv);
int command_lib(int argc, char **argv);
int command_check(int argc, char **argv);

/*
 * `gpuleak check --sim`: which functions of CUDA the PyTorch of `python` imports, and
 * what the simulated GPU does for each; `all` names those that are simulated, too.
 */
int check_sim(const char *python, bool all);

#endif
