#include "tracer/clock.h"

#include <pthread.h>
#include <stdint.h>

#include "tracer/map.h"

#include "tracer/banned.h"

enum {
	ALONE_ROUNDS = 2,  /* the lead's rounds without another, before a change is believed */
	FRESH_ROUNDS = 10, /* not heard of for so long: as good as new */
};

static pthread_mutex_t clock_lock = PTHREAD_MUTEX_INITIALIZER; /* taken with nothing held */

/* All guarded by clock_lock. */
static const void *lead;
static uint32_t round_number; /* marks so far */
static uint32_t alone;	      /* the lead's latest rounds in which no other stepped */
static bool others;	      /* another than the lead stepped in this round */
static struct map last_round; /* optimizer -> the round in which it stepped last */

void clock_forget(void)
{
	pthread_mutex_init(&clock_lock, NULL);
	lead = NULL;
	round_number = alone = 0;
	others = false;
	last_round = (struct map){0};
}

static bool end_round(const void *optimizer)
{
	alone = optimizer == lead && !others ? alone + 1 : 0;
	lead = optimizer;
	others = false;
	round_number++;
	return true;
}

static bool decide(const void *optimizer, uint32_t last)
{
	bool fresh = last == MAP_MISSING || round_number - last > FRESH_ROUNDS;

	if (!lead || optimizer == lead)
		return end_round(optimizer);
	if (last == round_number)
		return end_round(optimizer); /* twice, with the lead silent */
	if (fresh && alone >= ALONE_ROUNDS)
		return end_round(optimizer);
	others = true;
	return false;
}

bool clock_stepped(const void *optimizer)
{
	uint64_t key = (uintptr_t)optimizer;
	bool ended;

	pthread_mutex_lock(&clock_lock);
	ended = decide(optimizer, map_get(&last_round, key));
	map_put(&last_round, key, round_number);
	pthread_mutex_unlock(&clock_lock);
	return ended;
}
