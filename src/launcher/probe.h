/* A short Python program that tells, from within, what PyTorch can do here. */
#ifndef GPULEAK_LAUNCHER_PROBE_H
#define GPULEAK_LAUNCHER_PROBE_H

#include <stdbool.h>

#include "launcher/locate.h"

enum {
	PROBE_TEXT = 16384
};

struct probe {
	bool ran;	       /* Python started and ended by itself */
	bool traced;	       /* the tracer saw the tensor that the program made on a GPU */
	char text[PROBE_TEXT]; /* what the program wrote; see probe_value() */
};

/*
 * Run it with `python`, with the tracer and perhaps on the simulated GPU.  Its trace
 * is made in a temporary folder and removed.
 */
void probe_run(struct probe *probe, const char *python, const struct parts *parts, bool sim);

/* What the program said of `key`, owned by the caller; NULL: nothing. */
char *probe_value(const struct probe *probe, const char *key);

/* The first line that wasn't an answer: a complaint of Python's or the loader's.  Owned. */
char *probe_complaint(const struct probe *probe);

#endif
