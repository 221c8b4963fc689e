/*
 * The verdict: what the statistics of a trace say about a site and about a device.
 * docs/how-verdicts-work.md has the rules in words.
 *
 * Plain data in, plain data out.  The numbers come from a file that may hold any
 * bytes: every function here is total on them, takes no heap memory and keeps no
 * state, so threads may call it freely on memory of their own.
 *
 * In:  verdict_site.c     one site, the main sequence
 *      verdict_release.c  at what age a site gives memory back
 *      verdict_rounds.c   which rounds of births are still alive, how regular, how steady
 *      verdict_swell.c    one block replaced by ever larger ones; the live series
 *      verdict_teeth.c    how often a site's blocks pile up and go, and who frees them
 *      verdict_timeline.c what the timeline says: demand, reserve, pace
 *      verdict_device.c   one device
 *      verdict_pool.c     many stacks that keep memory once each, or one after the other
 *      verdict_text.c     sentences
 *      verdict_numbers.c  numbers and sizes in sentences
 *
 * Order of calls: verdict_timeline() once for a device, verdict_site() for each of
 * its sites, verdict_device() last.
 */
#ifndef GPULEAK_REPORT_VERDICT_H
#define GPULEAK_REPORT_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"

/* By gravity: the gravest finding names the device, the gravest device the trace. */
enum verdict {
	VERDICT_SHORT = 0, /* too few marks; of a device or trace, never of a single site */
	VERDICT_STABLE = 1,
	VERDICT_NOISY = 2,
	VERDICT_PLATEAU = 3,
	VERDICT_SAWTOOTH = 4,
	VERDICT_JUMP = 5,
	VERDICT_WORKLOAD = 6,
	VERDICT_HOST = 7,
	VERDICT_DRIVER = 8,
	VERDICT_FRAGMENTATION = 9,
	VERDICT_GROWING = 10,
	VERDICT_LEAK = 11,
	VERDICT_COUNT = 12,
};

/* "LEAK", "leak".  Never NULL. */
const char *verdict_name(enum verdict label);
const char *verdict_lower_name(enum verdict label);

/* The label with this lower-case name; false when there is none. */
bool verdict_by_name(const char *lower_name, enum verdict *label);

/* Why a site has its label.  The sentence comes from this and from the numbers beside it. */
enum verdict_reason {
	VERDICT_REASON_NOTHING_KEPT = 0, /* STABLE: nothing older than a step or so */
	VERDICT_REASON_BASELINE = 1,	 /* STABLE: all it holds was there before step 1 */
	VERDICT_REASON_FLAT = 2,	 /* STABLE: replaced one for one */
	VERDICT_REASON_VARIES = 3,	 /* NOISY */
	VERDICT_REASON_RELEASED = 4,	 /* SAWTOOTH: accumulates, then released */
	VERDICT_REASON_REPLACED = 5,	 /* PLATEAU: filled, then replaced one for one */
	VERDICT_REASON_STOPPED = 6,	 /* PLATEAU: no births that stay since `since` */
	VERDICT_REASON_FADED = 7,	 /* PLATEAU: ever fewer births that stay */
	VERDICT_REASON_ONCE = 8,	 /* JUMP: survivors of one round */
	VERDICT_REASON_SEVERAL = 9,	 /* JUMP: survivors of a few rounds, listed in `births` */
	VERDICT_REASON_DEMAND = 10,	 /* WORKLOAD: grows as the demand of the steps does */
	VERDICT_REASON_SLOWING = 11,	 /* GROWING: goes on, but slower than before */
	VERDICT_REASON_EVEN = 12,	 /* GROWING: few rounds, evenly spaced */
	VERDICT_REASON_IRREGULAR = 13,	 /* GROWING: too few rounds for uneven spacing */
	VERDICT_REASON_YOUNG = 14,	 /* GROWING: going on for too few steps */
	VERDICT_REASON_SWELLING = 15,	 /* LEAK: one block, replaced by ever larger ones */
	VERDICT_REASON_ROUNDS = 16,	 /* LEAK: survivors of round after round */
	VERDICT_REASON_POOL = 17,	 /* LEAK: many stacks, each seen once */
	VERDICT_REASON_RENEWED = 18,	 /* PLATEAU: replaced seldom, by no more than was there */
	VERDICT_REASON_BACKLOG = 19,	 /* GROWING: all goes in the end, but there is ever more */
	VERDICT_REASON_BOUNDED = 20,	 /* PLATEAU: still filling, with a bound that is known */
	VERDICT_REASON_TRADED = 21,	 /* WORKLOAD: grows while others shrink as much */
	VERDICT_REASON_LOADED = 22,  /* JUMP: loaded and copied before step 1, and still there */
	VERDICT_REASON_COMPANY = 23, /* WORKLOAD: grows as what other stacks allocate does */
	VERDICT_REASON_RELAY = 24,   /* LEAK: a line's stacks, one after the other */
	VERDICT_REASON_COUNT = 25,
};

/* `kept` of the `of` birth ranges since the first one have survivors; each `width` steps. */
struct verdict_rounds {
	uint32_t kept;
	uint32_t of;
	uint32_t width;
};

/* Survivors born in steps `first` to `last`. */
struct verdict_birth {
	uint32_t first;
	uint32_t last;
	uint32_t blocks;
	uint64_t bytes;
};

enum {
	VERDICT_BIRTHS = 12,	/* births that a JUMP lists */
	VERDICT_SENTENCE = 512, /* bytes that hold every sentence, its NUL included */
	VERDICT_MARKS_MIN = 20, /* below: SHORT */
};

/* What the timeline of a device says; for both verdict_site() and verdict_device(). */
struct verdict_timeline {
	double demand_first;   /* bytes: peak - trough within a step, early ... */
	double demand_middle;  /* ... halfway ... */
	double demand_last;    /* ... and late */
	double demand_growth;  /* factor between them; 1: none or unknown */
	double demand_swing;   /* bytes: middle spread of it within a sixteenth of the run */
	double floor_growth;   /* bytes: of the lowest trough, from early to late; INFINITY: unknown
				*/
	double demand_tau;     /* Kendall's tau of 16 block medians; 1: rises throughout */
	double peak_growth;    /* bytes: of the highest peak, since a quarter in */
	double stranded_first; /* bytes reserved above what the peak needs, a quarter in ... */
	double stranded_last;  /* ... at the end ... */
	double stranded_late;  /* ... and three quarters in */
	uint64_t peak;	       /* highest peak seen */
	uint64_t reserved;     /* at the last mark */
	uint64_t last_peak;    /* the highest peak of the last tenth */
	double seconds_per_step; /* over the second half; 0: unknown */
};

/*
 * `entries` ascending by step, the open one last; from an entry out of order on they are
 * left out.  All zero, a growth of 1, when there are none.
 */
void verdict_timeline(struct verdict_timeline *timeline,
		      const struct gpuleak_timeline_entry *entries, size_t count);

struct verdict_site_input {
	uint64_t now;					 /* number of the last mark */
	const struct gpuleak_site_version *version;	 /* borrowed, never NULL */
	const struct gpuleak_evidence_version *evidence; /* borrowed; NULL: holds nothing across
							     marks */
	const struct gpuleak_teeth *teeth;		 /* borrowed; NULL: unknown */
	bool collections;			 /* those of Python are counted in `teeth` */
	const struct verdict_timeline *timeline; /* borrowed; NULL: unknown */
	/* Borrowed, ascending: of each site that allocates and keeps nothing, size in the last step
	 * by the mean. */
	const double *company;
	size_t company_count;
	/* Steps: earlier stacks of the same line gave all back at this age; 0: unknown. */
	uint32_t line_release;
	bool joined; /* what parameters that joined brought with them, and no more */
};

/* Who gives back the blocks that outlive their step. */
enum verdict_freer {
	VERDICT_FREER_UNKNOWN = 0, /* or nobody does */
	VERDICT_FREER_PROGRAM = 1,
	VERDICT_FREER_COLLECTOR =
		2, /* Python's garbage collection: they were in reference cycles */
	VERDICT_FREER_BOTH = 3,
};

struct verdict_site {
	enum verdict label;
	enum verdict_reason reason;
	bool bound_unknown; /* may be a buffer that is still filling */
	bool suppressed;    /* set by the caller, before verdict_device(): counts nowhere */
	bool pooled;	    /* set by verdict_device(): part of its `pool` */
	/* Set by the caller, before verdict_device(); all zero: nobody knows whose line it is. */
	bool line_begins;   /* the first site of its line */
	uint32_t line_next; /* the next one, a later item, from 1; 0: none */
	struct verdict_rounds rounds;
	uint32_t first_step; /* of the births that stay; of all allocations where none does */
	uint32_t last_step;
	uint32_t blocks;     /* live at the last mark */
	uint64_t bytes;	     /* live at the last mark */
	uint64_t kept_bytes; /* of these, in births counted by `rounds` */
	uint32_t kept_blocks;
	uint32_t period_steps;	 /* of regular rounds; of a sawtooth, as measured; 0: none */
	uint32_t shortest_tooth; /* SAWTOOTH: steps from one release to the next, ... */
	uint32_t longest_tooth;	 /* ... where a period was measured; else 0 */
	enum verdict_freer freed_by;
	double bytes_per_step;	      /* LEAK and GROWING, else 0 */
	double bytes_per_step_spread; /* half width of its range */
	double round_bytes;	      /* LEAK of rounds: what comes at once, on average */
	double confidence;	      /* LEAK and GROWING, else 0 */
	uint32_t since;	      /* step in which growth stopped or began to slow; 0: neither */
	uint32_t release_age; /* steps: the oldest age at which it gives memory back; 0: none */
	bool release_known;   /* ... it has been seen to do so; at age 0: within the step */
	uint32_t max_age;     /* steps, of a block that was freed */
	uint32_t overdue_age; /* steps; what is older counts as kept */
	uint32_t
		oldest_age; /* steps, to which any of its blocks grew; alive ones of step 0 aside */
	double late_ratio;  /* SLOWING, FADED: births of the late half by those of the early */
	uint64_t frees;
	uint32_t steps_missing; /* GROWING: about so many more steps until LEAK; 0: unknown */
	uint32_t now;		/* the last mark */
	uint64_t swing;		/* bytes: highest - lowest at the marks after the first quarter */
	uint64_t lowest;	/* bytes at the marks after the first quarter */
	uint64_t highest;	/* the same */
	double swell_factor;	/* SWELLING, BACKLOG, DEMAND: growth of the site's live bytes ... */
	double demand_factor;	/* ... and of the demand of the steps */
	uint64_t swell_bytes;	/* SWELLING: growth over `swell_steps` steps */
	uint32_t swell_steps;
	uint32_t company_grew; /* COMPANY: of so many sites that keep nothing the blocks grew ... */
	uint32_t company_of;   /* ... among these */
	uint64_t buffer_bytes; /* BOUNDED: of all that shares the bound ... */
	uint64_t bound_bytes;  /* ... and what they can't pass; else 0 */
	uint32_t parts;	       /* POOL, RELAY: call stacks; else 1 */
	uint32_t birth_count;  /* JUMP, RENEWED: entries of `births`, ascending */
	struct verdict_birth births[VERDICT_BIRTHS];
};

void verdict_site(struct verdict_site *site, const struct verdict_site_input *input);

/*
 * Of a LEAK or GROWING somebody knows the bound: the site fills a buffer
 * that holds `buffer` bytes today and can't pass `bound`.
 */
void verdict_site_bound(struct verdict_site *site, uint64_t buffer, uint64_t bound);

/*
 * Of a site that holds only what was there before step 1, it is known that its content was copied
 * elsewhere then.  Changes nothing of any other.
 */
void verdict_site_copied(struct verdict_site *site);

/*
 * The evidence in one sentence without a full stop: "411 of 411 rounds kept, none
 * ever freed".  Cut to `size` bytes with its NUL; returns its whole length.
 */
size_t verdict_site_sentence(const struct verdict_site *site, char *buffer, size_t size);

struct verdict_device_input {
	uint64_t now;	   /* number of the last mark */
	uint64_t peak;	   /* bytes: highest allocated so far */
	uint64_t capacity; /* bytes; 0: unknown */
	uint64_t others;   /* bytes that others hold of it: contexts, other processes */
	const struct verdict_timeline *timeline; /* borrowed, never NULL */
	struct verdict_site *sites;		 /* borrowed; only `pooled` is changed */
	size_t site_count;
};

struct verdict_device {
	enum verdict label;
	size_t site;		   /* the site that names it, or VERDICT_NO_SITE */
	struct verdict_site named; /* a copy of it */
	struct verdict_site pool;  /* a finding of its own where its label is VERDICT_LEAK */
	double bytes_per_step;	   /* of all LEAK sites and the pool; without: of all GROWING */
	double bytes_per_step_low, bytes_per_step_high;
	double confidence;  /* the highest of those */
	bool bound_unknown; /* true of all of those */
	uint32_t
		counts[VERDICT_COUNT]; /* sites of each label, without suppressed and pooled ones */
	uint64_t full_at_step;	       /* 0: unknown, or not sound */
	uint64_t full_at_step_low;
	uint64_t full_at_step_high; /* 0: perhaps never */
	double full_in_seconds;	    /* 0: unknown */
	uint64_t named_bytes;  /* JUMP, PLATEAU: of all such sites; SAWTOOTH, NOISY: the swing */
	uint64_t stayed_bytes; /* of all JUMP and PLATEAU sites */
	uint64_t threshold;    /* bytes: from JUMP on, less doesn't name a device */
	uint64_t stranded; /* FRAGMENTATION, WORKLOAD: bytes reserved above what the peak needs */
	bool reaches_ceiling;	 /* SAWTOOTH: a tooth twice as high would hit the capacity */
	uint32_t now;		 /* the last mark */
	uint32_t oldest_age;	 /* steps, to which any block grew; alive ones of step 0 aside */
	uint32_t marks_missing;	 /* SHORT: so many more marks */
	uint32_t longest_period; /* steps: leaks rarer than this can't be confirmed by this run */
	struct verdict_timeline timeline;
};

#define VERDICT_NO_SITE SIZE_MAX

void verdict_device(struct verdict_device *device, const struct verdict_device_input *input);

/* As verdict_site_sentence(). */
size_t verdict_device_sentence(const struct verdict_device *device, char *buffer, size_t size);

/* "1,963"; `buffer` of at least 32 bytes is enough.  Returns `buffer`. */
const char *verdict_count_text(uint64_t count, char *buffer, size_t size);

/* "12.5 MiB", "512 B". */
const char *verdict_size_text(double bytes, char *buffer, size_t size);

#endif
