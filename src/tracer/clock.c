#include "tracer/clock.h"

#include <pthread.h>

#include "tracer/map.h"

#include "tracer/banned.h"

enum {
	LED_ROUNDS = 2,	   /* rounds that the lead ended, before its place can be taken */
	ALONE_ROUNDS = 2,  /* ... and without another, for one that stepped lately */
	FRESH_ROUNDS = 10, /* not heard of for so long: as good as new */
	NEWCOMERS =
		4, /* one after the other, each with a backward pass: so many may be of a turn */
	COMPANION = 1, /* of a value of `known`: steps beside a lead */
};

static pthread_mutex_t clock_lock = PTHREAD_MUTEX_INITIALIZER; /* taken with nothing held */

/* All guarded by clock_lock. */
static uint64_t lead;	      /* 0: none yet */
static uint64_t deposed;      /* whose place the lead has taken and not yet held for a round; 0 */
static uint32_t round_number; /* of the round under way */
static uint32_t led;	      /* rounds that the lead has ended since it is the lead */
static uint32_t alone;	      /* the lead's latest rounds in which no other stepped */
static bool others;	      /* another than the lead stepped in this round */
static uint32_t newcomers;    /* stepped for the first time, none other meanwhile */
static uint32_t passes_seen;  /* backward passes, when an optimizer stepped last */
static struct map known;      /* optimizer -> the round in which it stepped last << 1 | COMPANION */

void clock_forget(void)
{
	pthread_mutex_init(&clock_lock, NULL);
	lead = deposed = 0;
	round_number = led = alone = 0;
	newcomers = passes_seen = 0;
	others = false;
	known = (struct map){0};
}

static bool end_round(uint64_t optimizer)
{
	alone = optimizer == lead && !others ? alone + 1 : 0;
	led = optimizer == lead ? led + 1 : 1;
	lead = optimizer;
	deposed = 0;
	others = false;
	round_number++;
	return true;
}

/* One that steps for the first time, or again, where the lead was expected. */
static bool take_over(uint64_t optimizer)
{
	uint64_t before = lead;

	end_round(optimizer);
	deposed = before;
	return true;
}

/* The old lead goes on: the one that took its place steps beside it, and had a mark too many. */
static bool restore(uint64_t optimizer)
{
	uint32_t companion = map_get(&known, lead);

	if (companion != MAP_MISSING)
		map_put(&known, lead, companion | COMPANION);
	lead = optimizer;
	led = LED_ROUNDS;
	deposed = 0;
	others = false;
	round_number++;
	return false;
}

static bool decide(uint64_t optimizer, uint32_t value, bool turn_of_newcomers)
{
	uint32_t last = value >> 1;
	bool fresh = value == MAP_MISSING || round_number - last > FRESH_ROUNDS;
	bool companion = value != MAP_MISSING && (value & COMPANION);

	if (!lead || optimizer == lead)
		return end_round(optimizer);
	if (optimizer == deposed)
		return restore(optimizer);
	if (value != MAP_MISSING && last == round_number)
		return end_round(optimizer); /* twice, with the lead silent */
	if (!companion && led >= LED_ROUNDS && (fresh || alone >= ALONE_ROUNDS))
		return take_over(optimizer);
	if (turn_of_newcomers)
		return end_round(optimizer);
	others = true;
	return false;
}

/* The latest of too many for one turn?  Those that step after the same backward pass are one. */
static bool is_turn_of_newcomers(uint32_t value, uint32_t passes)
{
	bool newcomer = value == MAP_MISSING && passes != passes_seen;

	if (value != MAP_MISSING)
		newcomers = 0;
	newcomers += newcomer;
	passes_seen = passes;
	return newcomer && newcomers > NEWCOMERS;
}

bool clock_stepped(uint64_t optimizer, uint32_t passes)
{
	uint32_t value;
	bool ended;

	pthread_mutex_lock(&clock_lock);
	value = map_get(&known, optimizer);
	ended = decide(optimizer, value, is_turn_of_newcomers(value, passes));
	value = value == MAP_MISSING ? 0 : value & COMPANION;
	map_put(&known, optimizer, round_number << 1 | value);
	pthread_mutex_unlock(&clock_lock);
	return ended;
}
