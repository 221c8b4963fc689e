/* The traces of a run: which lay there before it, and which it wrote. */
#ifndef GPULEAK_LAUNCHER_TRACES_H
#define GPULEAK_LAUNCHER_TRACES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "launcher/say.h"
#include "launcher/trace_name.h"

/* A file, whatever it is called by now. */
struct file_identity {
	dev_t device;
	ino_t inode;
};

enum {
	TRACE_PLACES = 4
};

struct traces {
	/* Where the run may write: first as asked, then where the tracer falls back to. */
	struct trace_name names[TRACE_PLACES];
	size_t names_count;
	struct file_identity *known; /* owned: traces that stayed in place, and those collected */
	size_t known_count;
	uint64_t started; /* what GPULEAK_RUN_STARTED says to the run's processes */
};

/* Traces found after a run, by path. */
struct traces_written {
	struct names whole;   /* with events in them */
	struct names empty;   /* by processes that used no GPU */
	struct names running; /* their writer still lives */
};

/*
 * Make way for the traces of a run that has `out` as GPULEAK_OUT (NULL: by default):
 * an old one gets another name, .old or .old.2 and so on; one whose writer lives
 * stays.  `started` tells the run's traces from others'.  Returns 0, or -1 after saying why not.
 */
int traces_make_way(struct traces *traces, const char *out, uint64_t started);

/* After the run: what it wrote, and no other run at the same time under the same name. */
void traces_collect(struct traces *traces, struct traces_written *written);

void traces_written_release(struct traces_written *written);
void traces_release(struct traces *traces);

#endif
