/*
 * A habit: one call stack that allocates in some steps and lets its blocks go in some
 * way.  Most of what trainings do is a habit; what isn't is in odd.c.
 */
#ifndef GPULEAK_FAMILIES_HABIT_H
#define GPULEAK_FAMILIES_HABIT_H

#include "world.h"

enum life {
	LIFE_STEP = 0,	    /* gone before the mark */
	LIFE_EVER = 1,	    /* stays */
	LIFE_AGE = 2,	    /* a steps */
	LIFE_GEOMETRIC = 3, /* mean a */
	LIFE_UNIFORM = 4,   /* a to b */
	LIFE_PARETO = 5,    /* least a, alpha b */
	LIFE_LOGNORMAL = 6, /* median a, sigma b */
	LIFE_TWO = 7,	    /* a with chance b, else 1 */
	LIFE_HELD = 8,	    /* in a list: see enum hold */
	LIFE_MOMENT = 9,    /* gone at once */
};

enum hold {
	HOLD_EVERY = 0,	 /* cleared every a steps */
	HOLD_CHANCE = 1, /* cleared with chance a in each step */
	HOLD_COUNT = 2,	 /* cleared at a blocks, next time at b times as many */
	HOLD_QUEUE = 3,	 /* the oldest goes when there are more than a */
	HOLD_ANY = 4,	 /* any goes when there are more than a */
	HOLD_BACKLOG =
		6, /* the oldest goes when there are more than a, which b makes more a step */
	HOLD_SESSION = 5, /* cleared after Pareto's time: least a, alpha b, at most 5 a */
};

struct habit {
	uint32_t site;
	/* When; all zero: in each step from 1 on. */
	uint32_t start;	  /* the first step */
	uint32_t stop;	  /* the first one without it again; 0: never */
	uint32_t every;	  /* steps */
	uint32_t jitter;  /* of `every`, either way */
	double chance;	  /* in each such step; 0: 1 */
	uint32_t on, off; /* works for `on` steps, then rests for `off` */
	/* How much. */
	double count;	   /* blocks at a time; 0: 1 */
	bool random_count; /* Poisson's */
	double ramp;	   /* `count` grows by this factor over the run; 0: 1 */
	double bytes;
	double spread;	/* relative, even either way */
	double sigma;	/* of the logarithm */
	bool by_length; /* with the step's inputs */
	/* How long. */
	double keep; /* share that stays for ever */
	enum life life;
	enum hold hold;
	double a, b;
	/* Under way. */
	struct list list;
	uint32_t next;
	double session_end;
};

/* A copy of `habit` begins to act; in step 0 already when `start` is 0 and `stop` 1. */
void habit_add(struct world *world, const struct habit *habit);

#endif
