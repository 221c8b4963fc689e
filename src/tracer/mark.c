#include "tracer/mark.h"

#include <pthread.h>

#include "tracer/cancel.h"
#include "tracer/host.h"
#include "tracer/hot.h"
#include "tracer/ledger.h"
#include "tracer/native_loader.h"
#include "tracer/native_names.h"
#include "tracer/ring.h"
#include "tracer/slots.h"
#include "tracer/trace_writer.h"
#include "tracer/tracer.h"

#include "tracer/banned.h"

enum {
	NAMES_PER_MARK = 16,	   /* given to native frames: each costs some microseconds */
	UNLOADS_EVERY = 100000000, /* ns */
	MARKS_TO_KEEP = 20, /* of optimizers, when gpuleak_step() comes: fewer prove nothing */
};

HOT_DATA int mark_rank; /* enum mark_rank */

static pthread_mutex_t mark_lock = PTHREAD_MUTEX_INITIALIZER;

/* The step under way of the whole process; guarded by mark_lock. */
static uint32_t step;

void mark_forget(void)
{
	pthread_mutex_init(&mark_lock, NULL);
	step = 0;
	mark_rank = MARK_RANK_NONE;
}

uint64_t mark_count(void)
{
	return tracer_recording() ? __atomic_load_n(&trace.state->committed, __ATOMIC_ACQUIRE) : 0;
}

void mark_hold_off(void)
{
	pthread_mutex_lock(&mark_lock);
}

void mark_go_on(void)
{
	pthread_mutex_unlock(&mark_lock);
}

static void raise_to(uint64_t *number, uint64_t mark)
{
	__atomic_store_n(number, mark, __ATOMIC_RELEASE);
	/* What follows belongs to the mark: no store of it may come before. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

static uint64_t settle_and_publish(struct ledger *ledger, uint64_t mark, uint64_t when)
{
	uint64_t events;

	lock_take(&ledger->lock);
	ledger_catch_up(ledger);
	ledger_part_workspaces(ledger);
	ledger_write_mark(ledger);
	ledger_settle(ledger, mark, (uint32_t)mark + 1);
	ledger_publish(ledger, mark, when);
	events = ledger->events;
	lock_give(&ledger->lock);
	return events;
}

static void write_mark(uint64_t mark, uint64_t when, uint64_t events)
{
	struct gpuleak_mark_version *marks = trace.state->marks;
	struct gpuleak_mark_version *into = &marks[mark & 1];

	/* Numbers were left out: the last mark must stay as it is until this one counts. */
	if (into->mark && into->mark == trace.state->committed)
		into = &marks[!(mark & 1)];
	__atomic_store_n(&into->mark, mark, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&into->when, when, __ATOMIC_RELAXED); /* slots.c looks at it */
	into->events = events;
}

/* For what was unloaded without our hearing of it: dlclose() looks by itself. */
static void look_for_unloads(uint64_t when)
{
	static uint64_t looked; /* guarded by mark_lock */

	if (when - looked < UNLOADS_EVERY)
		return;
	looked = when;
	native_loader_look();
}

/* Caller holds mark_lock. */
static void commit(uint32_t number)
{
	uint64_t mark = number ? number : trace.state->committed + 1;
	uint64_t when = trace_now(), events = 0;

	look_for_unloads(when);
	/* One above the last, whatever its number: readers go by the difference. */
	raise_to(&trace.state->begun, trace.state->committed + 1);
	for (unsigned i = 0; i < ledger_count(); i++) {
		struct ledger *ledger = ledger_if_used(i);

		if (ledger)
			events += settle_and_publish(ledger, mark, when);
	}
	host_publish(mark, when);
	write_mark(mark, when, events);
	raise_to(&trace.state->begun, mark);
	raise_to(&trace.state->committed, mark);
	step = (uint32_t)mark + 1;
	ledger_start_step(step);
}

static enum mark_rank rank_of(enum gpuleak_clock clock)
{
	switch (clock) {
	case GPULEAK_CLOCK_NONE:
		return MARK_RANK_NONE;
	case GPULEAK_CLOCK_OPTIMIZER:
		return MARK_RANK_OPTIMIZER;
	case GPULEAK_CLOCK_EXPLICIT:
		return MARK_RANK_EXPLICIT;
	case GPULEAK_CLOCK_BACKWARD:
		return MARK_RANK_BACKWARD;
	case GPULEAK_CLOCK_TIME:
		return MARK_RANK_TIME;
	default:
		return MARK_RANK_LOOP;
	}
}

/*
 * As if no mark had been made: all that was allocated until now is of step 0.  Killed
 * on the way, the trace has no mark.  Caller holds mark_lock.
 */
static void start_anew(void)
{
	step = 0;
	ledger_start_step(0); /* also of a device that has its first event meanwhile */
	__atomic_store_n(&trace.state->begun, 0, __ATOMIC_RELEASE);
	raise_to(&trace.state->committed, 0);
	trace.state->clock = GPULEAK_CLOCK_NONE;
	for (unsigned i = 0; i < 2; i++)
		__atomic_store_n(&trace.state->marks[i].mark, 0, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < ledger_count(); i++) {
		struct ledger *ledger = ledger_if_used(i);

		if (!ledger)
			continue;
		lock_take(&ledger->lock);
		ledger_catch_up(ledger);
		ledger_start_anew(ledger);
		lock_give(&ledger->lock);
	}
	trace_start_anew();
	host_start_anew();
}

/* False when a higher clock is in use.  Caller holds mark_lock. */
static bool take_clock(enum mark_rank rank)
{
	bool keep = rank == MARK_RANK_EXPLICIT && mark_rank == MARK_RANK_OPTIMIZER &&
		    trace.state->committed >= MARKS_TO_KEEP;

	if ((int)rank < mark_rank)
		return false;
	if ((int)rank > mark_rank && !keep && step > 0)
		start_anew();
	__atomic_store_n(&mark_rank, (int)rank, __ATOMIC_RELAXED);
	return true;
}

void mark_step_in_hook(enum gpuleak_clock clock, uint32_t number, uint64_t marks)
{
	int cancel;

	if (!tracer_recording())
		return;
	cancel = cancel_put_off();
	pthread_mutex_lock(&mark_lock);
	if (trace.state->committed >= marks && trace.state->committed < UINT32_MAX - 2 &&
	    take_clock(rank_of(clock))) {
		trace.state->clock = clock;
		if (!number || number > trace.state->committed)
			commit(number);
	}
	pthread_mutex_unlock(&mark_lock);
	slots_marked();
	cancel_allow(cancel);
}

void mark_step(enum gpuleak_clock clock, uint32_t number)
{
	if (!tracer_recording() || !mark_counts(rank_of(clock)))
		return;
	mark_step_in_hook(clock, number, 0);
	native_names_give(NAMES_PER_MARK);
	ring_touch_ahead();
}

void mark_restart(enum gpuleak_clock clock)
{
	if (!tracer_recording())
		return;
	pthread_mutex_lock(&mark_lock);
	if (take_clock(rank_of(clock)) && step > 0)
		start_anew();
	pthread_mutex_unlock(&mark_lock);
}

/* Caller holds mark_lock. */
static void settle_baseline(void)
{
	raise_to(&trace.state->begun, trace.state->committed + 1);
	for (unsigned i = 0; i < ledger_count(); i++) {
		struct ledger *ledger = ledger_if_used(i);

		if (!ledger)
			continue;
		lock_take(&ledger->lock);
		ledger_catch_up(ledger);
		ledger_part_workspaces(ledger);
		ledger_settle(ledger, trace.state->committed + 1, 1);
		lock_give(&ledger->lock);
	}
	step = 1;
	ledger_start_step(step);
}

void mark_baseline_end(void)
{
	if (!tracer_recording())
		return;
	pthread_mutex_lock(&mark_lock);
	if (take_clock(MARK_RANK_OPTIMIZER) && step == 0)
		settle_baseline();
	pthread_mutex_unlock(&mark_lock);
}
