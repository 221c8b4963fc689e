/*
 * What a person reads one by one: sites with the same verdict that one line of
 * code stands for, gravest first.
 */
#ifndef GPULEAK_REPORT_FINDINGS_H
#define GPULEAK_REPORT_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/code.h"
#include "report/place.h"
#include "report/rules.h"
#include "report/snapshot.h"
#include "report/verdict.h"
#include "report/verdict_host.h"

/* A finding beside those of --baseline. */
enum finding_state {
	FINDING_ALONE = 0, /* there is no baseline */
	FINDING_NEW = 1,
	FINDING_FASTER = 2, /* it was there, with less */
	FINDING_KNOWN = 3,
	FINDING_SLOWER = 4, /* known, with less than before */
};

enum {
	FINDING_OPERATIONS = 4
};

struct finding {
	enum verdict label;
	const struct snapshot_site *site;   /* borrowed: the one that stands for its sites */
	const struct verdict_site *verdict; /* borrowed: of that site, or of the pool */
	struct place place;		    /* of that site */
	struct text operations[FINDING_OPERATIONS]; /* different ones of the backward pass, the
						       first that were met; empty: no more */
	uint32_t parts;				    /* sites */
	uint32_t first_step;
	uint32_t last_step;
	uint64_t bytes;
	uint64_t blocks;
	uint64_t peak_bytes;
	double bytes_per_step;
	const struct rule *rule; /* borrowed: one that it meets; NULL: none */
	enum finding_state state;
	double before;		       /* FASTER, KNOWN, SLOWER: see baseline_amount() */
	const struct finding *earlier; /* borrowed: of the other run, for a diff */
	uint64_t weight;	       /* of `site`, while sites are added */
};

struct findings {
	const struct snapshot_device *device; /* borrowed */
	struct verdict_timeline timeline;
	struct verdict_device verdict;
	struct verdict_growth driver;	      /* what no hook sees */
	struct verdict_site *sites;	      /* owned, as `origins` */
	const struct snapshot_site **origins; /* owned; borrowed from the snapshot */
	size_t site_count;		      /* that verdict_device() sees */
	size_t segment_count;		      /* behind those: PyTorch's segments, with `all` */
	const struct gpuleak_frame *backward; /* the line that called backward(), when it is one */
	struct finding *items;		      /* owned, gravest first */
	size_t count;
	uint64_t quiet;	      /* sites that never held memory across a mark, not looked at */
	uint64_t damaged;     /* sites with a stack or frame that can't be read */
	struct place *places; /* owned, as `sites` */
	bool *pooled;	      /* owned, as `sites`: shown as part of the pool */
	uint64_t pool_bytes;  /* of those */
	struct rule **rules;  /* owned, as `sites`; borrowed, NULL: it meets none */
	bool *hidden;	      /* owned, as `sites`: part of a pool, but suppressed */
	struct verdict_site hidden_pool; /* the pool when they belonged to it */
	uint64_t hidden_bytes;		 /* of that pool */
	bool known_label;		 /* a device of the baseline has the same verdict */
	bool pool_is_one;		 /* no line stands out: the whole pool is one finding */
};

/*
 * All findings of a device; with `all` also of sites that never held memory across a mark.
 * `matcher`: the rules, and how often each was used.
 */
void findings_init(struct findings *findings, struct code_map *map, struct rules_matcher *matcher,
		   const struct snapshot_device *device, bool all);
void findings_release(struct findings *findings);

/* True of a finding that a rule suppresses: it keeps its verdict and counts nowhere. */
bool finding_suppressed(const struct finding *finding);

/* True when a finding stands for the device's verdict; false: no call stack shows it. */
bool findings_explain(const struct findings *findings);

/*
 * True of one that a gate looks at: neither suppressed nor known, nor a segment of
 * PyTorch's, which holds what other findings are of.
 */
bool finding_counts(const struct finding *finding);

/* True of a finding that has passed the bound which a rule names. */
bool finding_passed_bound(const struct finding *finding);

/*
 * For findings.c, in findings_rules.c.  The first before the device is judged; the second
 * after it: the suppressed members of a pool leave it.  True when the device is to be
 * judged again without them.
 */
void findings_apply_rules(struct findings *findings, struct rules_matcher *matcher);
bool findings_hide_pooled(struct findings *findings, struct rules_matcher *matcher);

/* What other sites tell of one: see verdict.h. */
struct findings_hint {
	uint32_t line_release;
	bool joined;
};

/* For findings.c, in findings_lines.c: have each site know the next one of the same line. */
void findings_link_lines(struct findings *findings, const struct names *names);

/*
 * For findings.c, in findings_lines.c.  Of each site that keeps memory: at what age stacks of the
 * same line, that were done with when it began, gave back all; 0: there is none.
 */
void findings_line_releases(struct findings *findings, const struct names *names,
			    struct findings_hint *hints);

/*
 * For findings.c, in findings_joined.c.  Sites that leak by their rounds, but are an optimizer's
 * state or gradients of which there is just what the parameters need.
 */
void findings_joined(const struct findings *findings, const struct snapshot *snapshot,
		     struct findings_hint *hints);

/*
 * What a thread of autograd allocates has no line of the user's where the trace doesn't say who
 * called backward(): it gets the device's one line that does, if there is one.
 */
void findings_lend_line(const struct findings *findings, const struct snapshot_site *site,
			struct place *place);

/* A site's bytes when the device's memory was at its peak. */
uint64_t site_bytes_at_peak(const struct snapshot_site *site, const struct snapshot_device *device);

#endif
