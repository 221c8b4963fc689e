/* Programs that the launcher starts and waits for. */
#ifndef GPULEAK_LAUNCHER_CHILD_H
#define GPULEAK_LAUNCHER_CHILD_H

#include <stdbool.h>

#include "launcher/preload.h"

/* Where a child's output goes; -1: where the launcher's own goes. */
struct child_output {
	int out;
	int err;
};

/* How a child ended. */
struct child_end {
	bool started; /* false: nothing ran, and the reason was said */
	int code;     /* as a shell counts: its exit code, 128 + N for signal N, 126 or 127 */
	int signal;   /* that ended it; 0: none */
};

/*
 * Start `argv` and wait for its end.  Signals sent to the launcher alone are passed
 * on; those of the terminal reach the child by themselves and the launcher stays.
 * The child has the launcher's standard streams, but for those in `output`, and the
 * signal settings that the launcher was started with.
 */
struct child_end child_run(char *const argv[], const struct environment *environment,
			   struct child_output output);

/*
 * Start `argv`, and take what it writes to both its outputs, at most `size` - 1
 * bytes of it, into `text`; or the reason why it did not start.  A child that is
 * silent for `seconds` is killed.
 */
struct child_end child_capture(char *const argv[], const struct environment *environment,
			       int seconds, char *text, unsigned long size);

#endif
