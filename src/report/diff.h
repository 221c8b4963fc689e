/*
 * Two runs of a program, side by side: which findings are new, gone or changed.
 */
#ifndef GPULEAK_REPORT_DIFF_H
#define GPULEAK_REPORT_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/options.h"
#include "report/report.h"
#include "report/terminal.h"

enum change_kind {
	CHANGE_NEW = 0,
	CHANGE_MORE = 1, /* faster, or larger */
	CHANGE_GONE = 2, /* a leak: fixed */
	CHANGE_LESS = 3,
	CHANGE_SAME = 4,
	CHANGE_COUNT = 5,
};

/* What became of a finding. */
struct change {
	enum change_kind kind;
	const struct finding *before; /* borrowed; NULL: there was none with its key */
	const struct finding *after;  /* the same; of a new or gone one it has another verdict */
};

/* A device's memory up to a step. */
struct diff_sizes {
	uint64_t allocated;
	uint64_t peak;
	uint64_t reserved;
};

struct diff_device {
	uint32_t device;	       /* PyTorch's number */
	const struct findings *before; /* borrowed; NULL: that run did not use it */
	const struct findings *after;
	struct change *items; /* owned: new ones first, each kind by gravity */
	size_t count;
	uint64_t step; /* the last one that both runs have; the sizes are of it */
	struct diff_sizes sizes_before;
	struct diff_sizes sizes_after;
};

struct diff {
	struct report *before; /* borrowed */
	struct report *after;
	struct diff_device devices[2 * GPULEAK_DEVICES_MAX];
	size_t device_count;
};

void diff_init(struct diff *diff, struct report *before, struct report *after);
void diff_release(struct diff *diff);

/* True when something that --fail-on names is new, faster or larger. */
bool diff_fails(const struct diff *diff, const struct options *options);

/* "new", "faster", "larger", "fixed", "gone", "slower", "smaller", "same". */
const char *change_name(const struct change *change);

/* Changes of a kind, on all devices. */
size_t diff_count(const struct diff *diff, enum change_kind kind);

void diff_print_text(const struct terminal *terminal, struct diff *diff,
		     const struct options *options);
void diff_print_json(FILE *out, struct diff *diff);

#endif
