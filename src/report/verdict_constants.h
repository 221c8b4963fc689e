/*
 * Every constant of the verdict.  docs/how-verdicts-work.md tells where each comes
 * from and how far it can be moved before a verdict changes.
 */
#ifndef GPULEAK_REPORT_VERDICT_CONSTANTS_H
#define GPULEAK_REPORT_VERDICT_CONSTANTS_H

/* Rounds. */
#define ROUNDS_LEAK	 6  /* rounds kept: LEAK */
#define ROUNDS_IRREGULAR 10 /* ... when they aren't evenly spaced */
#define ROUNDS_MANY	 20 /* ... and their births, of a site that gives nothing back, came early */
#define ROUNDS_GROWING	 3  /* evenly spaced rounds kept: GROWING */
#define ROUNDS_SPARSE	 12   /* rounds that stopped: a list of jumps up to here, else PLATEAU */
#define ROUNDS_FILLED	 4    /* rounds, all of them early: something that filled ... */
#define FILLED_EARLY	 0.25 /* ... in this part of the run */
#define GAP_SPREAD	 0.35 /* coefficient of variation of the gaps: below, evenly spaced */
#define SIZE_SPREAD	 2.0  /* even rounds differ in bytes by at most this factor */
#define SPAN_MIN	 20   /* steps a leak must have been going on */
#define SPAN_SHARE	 10   /* ... and one part in so many of all steps */
#define SPAN_MAX	 500  /* steps; ... but no more is asked for */

/* Release. */
#define OVERDUE_FACTOR 3   /* older than so many release ages: kept */
#define HAZARD	       0.2 /* share of the blocks of an age class that die in it: gives back */
#define HAZARD_DEATHS  2   /* deaths of a class below which it says nothing */
#define CLIP	       3.0 /* a count is taken as at most so many medians */

/* Still going? */
#define SILENCE_EVEN	1.6 /* mean gaps without a birth: an even series has ended */
#define SILENCE_MEAN	4.0 /* the same of an uneven one ... */
#define SILENCE_LARGEST 1.5 /* ... and its largest gaps */

/* Slowing down? */
#define LAPLACE	      -2.5 /* the trend test's score: below, births came early */
#define LAPLACE_CACHE -2.0 /* ... of up to 32 rounds of a site that gives nothing back */
#define LAPLACE_FEW   -1.3 /* ... of fewer than ROUNDS_MANY uneven ones of such a site */
#define RATIO_FADED   0.5  /* births of the late half by those of the early: below, PLATEAU */
#define RATIO_SLOWING 0.8  /* ... below, GROWING */

/* Replaced one for one? */
#define NET_SHARE  0.2 /* of the births that stay: a smaller rise of the live count is none */
#define NET_BLOCKS 4   /* births that stay, below which the count says nothing */

/* One block, ever larger. */
#define SWELL_LEVELS	   12	/* live buckets needed */
#define SWELL_RISES	   10	/* rises needed, or ROUNDS_LEAK even ones */
#define SWELL_RISE_EVEN	   2.0	/* even: the largest rise by the median one */
#define SWELL_RISE_SHARE   0.4	/* of the growth, in a single rise: a jump */
#define SWELL_LATE	   0.11 /* of the growth, in the last quarter: still going */
#define SWELL_BLOCKS	   1.5	/* growth of the live count: more isn't a replacement */
#define SWELL_BYTES	   1.3	/* growth of the live bytes */
#define SWELL_DEMAND	   2.0	/* by the growth of the demand: less is the workload */
#define SWELL_ROUNDS_ALIVE 2	/* rounds that may be alive */
#define SWELL_OWN_MOST	   1.5	/* of the site's own rise: more demand may be the inputs' ... */
#define SWELL_OWN_LEAST	   0.5	/* ... and a fall by more may hide them */
#define SWELL_ROUND	   0.08 /* of what it began with, more each time: growth from nothing ... */
#define SWELL_BEGUN	   4.0	/* rounds' worth that it may have begun with ... */
#define SWELL_BEGUN_EARLY  1.5	/* ... before step 1 */
#define SWELL_LEAST	   5.0	/* ... by at least this factor ... */
#define SWELL_PURE	   0.7	/* ... or by more than this share of the live buckets */
#define SWELL_SHARE	   0.25 /* of the site's bytes: a demand beside them that is less is unknown */
#define SWELL_FLOOR	   0.5 /* of the site's rise, by the device's floor: less, and others shrank */
#define SWELL_EARLY	   0.11 /* of the run: middle of the blocks of `demand_first` ... */
#define SWELL_LATER	   0.94 /* ... and of `demand_last` */

/* In company: what other stacks allocate, and keep nothing of, grows as much. */
#define COMPANY_LEAST  4   /* stacks ... */
#define COMPANY_SHARE  0.6 /* ... and of those that allocate in step after step */
#define COMPANY_GROWTH 1.1 /* of the site's own: less tells nothing */
#define COMPANY_WEAK   0.5 /* of the site's own growth, at least ... */
#define COMPANY_STRONG 2.0 /* ... and at most */

/* A queue that gets longer. */
#define BACKLOG_GONE 0.15 /* of the blocks that outlived their step, dead by now */
#define BACKLOG_LAST 0.3  /* of the mean rise, in the last two live buckets */

/* Confidence. */
#define CONFIDENCE_UNBOUND 0.90 /* cap where a buffer still filling looks the same */
#define CONFIDENCE_GROWING 0.60 /* of a leak's */
#define CONFIDENCE_BOUND   0.99 /* cap where the site is known to give back */

/* Bounded patterns, after the first quarter of the steps. */
#define SAWTOOTH_SWING 3    /* blocks */
#define SAWTOOTH_AGE   2    /* steps, the middle age at death */
#define SAWTOOTH_TEETH 3    /* that are over: then the period between them is told ... */
#define SAWTOOTH_TALL  0.5  /* ... where the tallest is at least this part of the swing */
#define FREER_MOST     0.9  /* of the blocks that outlived their step: all went that way */
#define FREER_LEAST    0.1  /* ... none did */
#define PLATEAU_RISE   0.8  /* of today's bytes: what was live early, if it filled later */
#define FLAT	       0.05 /* of the level: smaller swings are none */
#define NOISY_SWING    0.01 /* of the highest level: smaller swings are none */

/* Rate. */
#define RATE_ENTRIES	 8   /* birth entries in the second half: the rate is theirs alone */
#define RATE_CLIP	 3.0 /* by the entry at nine tenths: more is a jump within the site */
#define RATE_SIGMAS	 2.0 /* half width of the rate's range, in standard errors */
#define FORECAST_SEGMENT (20 << 20) /* bytes: PyTorch takes so much at once */

/* Device. */
#define NAMED_BYTES    (1 << 20) /* bytes ... */
#define NAMED_SHARE    0.01	 /* ... and of the peak: below both, doesn't name a device */
#define POOL_SITES     16	 /* stacks that keep memory once or twice */
#define POOL_OCCUPIED  12	 /* of POOL_BUCKETS time buckets */
#define POOL_BUCKETS   32
#define POOL_CLASSES   2    /* quarters of a power of two between sizes that are alike */
#define POOL_SPAN      0.75 /* of the time from the first of them on */
#define RELAY_STRETCH  4    /* a stack of a relay kept memory in less than so much of the run */
#define FRAGMENT_PEAK  1.06 /* reserve that a peak needs */
#define FRAGMENT_SHARE 0.05 /* of the reserve, stranded since the first quarter ... */
#define FRAGMENT_BYTES (32 << 20) /* bytes; ... and at least */
#define FRAGMENT_LATE  0.15	  /* of that in the last quarter */
#define FRAGMENT_GROWN 3    /* by the growth of the peak: what a growing workload leaves ... */
#define FRAGMENT_STEEP 8    /* ... or so much, if it is more and more ... */
#define FRAGMENT_MORE  0.45 /* ... with this share of it in the last quarter */
#define DEMAND_WARM_UP 0.05 /* of the entries are left out */
#define DEMAND_BLOCKS  16
#define DEMAND_TAU     0.6
#define DEMAND_PART    0.04 /* of the growth, in each half of the run at least */
#define DEMAND_GROWTH  1.1
#define DEMAND_NOISE   0.05 /* of the peak: smaller swings of the demand are none */
#define PERIODS_IN_RUN 6    /* a leak rarer than a run's steps by this can't be confirmed */

/* The host: its memory in parts of the run after the first quarter. */
#define HOST_PARTS	  8
#define HOST_RISES	  6	    /* of seven, each of at least HOST_RISE */
#define HOST_RISE	  0.25	    /* of the mean rise */
#define HOST_FALL	  0.02	    /* of the growth: given back from one part to the next */
#define HOST_LEAP	  0.45	    /* of the growth: more at once is a jump */
#define HOST_LATE	  0.7	    /* of the early half's growth: slower is fading */
#define HOST_OWN_BYTES	  (4 << 20) /* least growth ... */
#define HOST_OWN_SHARE	  0.01	    /* ... and of what it was */
#define HOST_PINNED_BYTES (1 << 20)
#define DRIVER_BYTES	  (16 << 20) /* least growth of what no hook sees ... */
#define DRIVER_SHARE	  0.01	     /* ... and of what it was */

#endif
