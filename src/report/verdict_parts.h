/*
 * What the verdict's files know of each other.  Steps are int64_t, so that sums and
 * multiples of 32-bit step numbers can't overflow; counts and bytes are doubles.
 */
#ifndef GPULEAK_REPORT_VERDICT_PARTS_H
#define GPULEAK_REPORT_VERDICT_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/verdict.h"
#include "trace/format.h"

/* The last step a verdict can speak of. */
#define STEP_MAX INT64_C(0xfffffffe)

static inline uint32_t step_of(int64_t step)
{
	if (step < 0)
		return 0;
	return step < STEP_MAX ? (uint32_t)step : (uint32_t)STEP_MAX;
}

/* A size or count that came out of doubles, back in the range of its type. */
static inline uint64_t u64_of(double value)
{
	if (!(value > 0))
		return 0;
	return value < 0x1p63 ? (uint64_t)value : UINT64_MAX;
}

static inline uint32_t u32_of(double value)
{
	if (!(value > 0))
		return 0;
	return value < 0x1p32 ? (uint32_t)value : UINT32_MAX;
}

/* Survivors born in steps lo to hi. */
struct birth_range {
	int64_t lo;
	int64_t hi;
	double blocks;
	double bytes;
};

/* Ascending, none empty, none after the last mark. */
struct births {
	uint32_t count;
	int64_t width; /* steps of a range: at least 1 */
	struct birth_range ranges[GPULEAK_BIRTHS];
};

/* The births of an evidence version, whatever is in it. */
void births_read(struct births *births, const struct gpuleak_evidence_version *evidence,
		 int64_t now);

/* The ranges that count as rounds: those old enough, without the baseline. */
struct rounds {
	struct birth_range ranges[GPULEAK_BIRTHS];
	uint32_t count;
	int64_t width;
	int64_t cut; /* the youngest birth step that is old enough */
	bool exact;  /* each range is one step */
	bool even;   /* exact and evenly spaced */
	double mean_gap;
	double largest_gap;
};

void rounds_select(struct rounds *rounds, const struct births *births, int64_t cut);

/* Fill in the gaps from ranges, count, width and exact. */
void rounds_measure(struct rounds *rounds);

/* At most a factor SIZE_SPREAD between the rounds' bytes. */
bool rounds_alike(const struct rounds *rounds);

/* Steps without a round, up to the cut, that its gaps don't explain. */
bool rounds_ended(const struct rounds *rounds);

/* Have the births slowed down? */
struct trend {
	double score; /* Laplace's: below -2, too many came early to be chance */
	double ratio; /* births of the late half by those of the early half */
};

/* Of two rounds and more; else no trend. */
struct trend rounds_trend(const struct rounds *rounds);

/* Bytes that stay per step, today, and the half width of its range. */
struct rate {
	double bytes;
	double spread;
};

/* What comes at once. */
struct round_size {
	bool known;
	bool each_step; /* each step has one */
	double bytes;	/* on average */
};

/* Known where all that outlived its step is still there: then the rounds were counted. */
struct round_size rounds_size(const struct births *births,
			      const struct gpuleak_site_version *version,
			      const struct gpuleak_evidence_version *evidence, int64_t now);

struct rate rounds_rate(const struct rounds *rounds, int64_t now, const struct round_size *size);

/* At what age a site gives memory back. */
struct release {
	bool known;  /* it has been seen to */
	int64_t age; /* steps; 0 when unknown, or when all dies within its step */
};

struct release release_read(const struct gpuleak_evidence_version *evidence,
			    const struct births *births, int64_t now, int64_t max_age);

/* Blocks that outlived their step and died. */
double release_count(const struct gpuleak_evidence_version *evidence);

/* The middle age at death of the blocks that outlived their step; 0: none. */
int64_t release_middle(const struct gpuleak_evidence_version *evidence);

/* The site's live memory in buckets of marks, the last one up to `now`. */
struct levels {
	uint32_t count; /* 1 to GPULEAK_LEVELS */
	int64_t width;	/* marks of a bucket */
	bool partial;	/* the last bucket isn't over */
	struct gpuleak_level buckets[GPULEAK_LEVELS];
};

void levels_read(struct levels *levels, const struct gpuleak_evidence_version *evidence,
		 const struct gpuleak_site_version *version, int64_t now);

/* Lowest and highest at the marks of the buckets from `first` on. */
struct gpuleak_level levels_range(const struct levels *levels, uint32_t first);

/*
 * From some bucket on births that stay are matched by deaths, one for one: the live
 * count moved by far less than their number.  `since`: where that bucket begins.
 */
bool levels_replaced(const struct levels *levels, const struct births *births, int64_t cut,
		     int64_t *since);

/* Low at first, flat in the last third. */
bool levels_filled(const struct levels *levels, uint64_t live_bytes);

/* Where the last rise to today's level ended. */
int64_t levels_filled_since(const struct levels *levels);

/* The count only ever rose: what it holds may be replaced, but nothing was let go of. */
bool levels_never_fell(const struct levels *levels);

/* One block, replaced by larger ones again and again. */
struct swell {
	bool found;
	double factor; /* growth of the live bytes */
	uint64_t bytes;
	int64_t steps;
	double mean;	    /* bytes live at the marks */
	double first;	    /* bytes that it began with ... */
	int64_t first_mark; /* ... or had here */
	double early;	    /* bytes live where the timeline's `demand_first` is from ... */
	double late;	    /* ... and `demand_last` */
};

struct swell swell_read(const struct levels *levels);

/* How the demand of the steps grew beside the site itself; 1: not, or nobody knows. */
double swell_demand(const struct swell *swell, const struct verdict_timeline *timeline);

/* The demand didn't rise by more than the site's own block, nor could hide that it did. */
bool swell_is_flat(const struct swell *swell, const struct verdict_timeline *timeline);

/* It grew from next to nothing, and far more than the demand. */
bool swell_is_pure(const struct swell *swell, const struct levels *levels,
		   const struct gpuleak_site_version *version,
		   const struct verdict_timeline *timeline, double demand);

/*
 * A batch, which is there from the start: it had more than a few rounds add, and most of what the
 * steps allocate grows as it does.
 */
bool swell_in_company(struct verdict_site *site, const struct swell *swell,
		      const struct verdict_site_input *input);

/* Ever more blocks at once, though all of them go in the end: a queue that gets longer. */
struct swell backlog_read(const struct levels *levels);

/* The period of a sawtooth whose blocks at the marks lie in `range`; who frees any site's. */
void teeth_read(struct verdict_site *site, const struct verdict_site_input *input,
		const struct gpuleak_level *range);

/* The value that `share` of the values, sorted in place, are at or below; 0 of none. */
double quantile(double *values, uint32_t count, double share);

#endif
