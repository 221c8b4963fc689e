#include "tracer/mark.h"

#include <pthread.h>

#include "tracer/ledger.h"
#include "tracer/slots.h"
#include "tracer/trace_writer.h"
#include "tracer/tracer.h"

#include "tracer/banned.h"

/* Names given to native frames per mark: each costs some microseconds. */
enum {
	NAMES_PER_MARK = 16
};

static pthread_mutex_t mark_lock = PTHREAD_MUTEX_INITIALIZER;

/* The step under way of the whole process; guarded by mark_lock. */
static uint32_t step;

void mark_forget(void)
{
	pthread_mutex_init(&mark_lock, NULL);
	step = 0;
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
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static uint64_t settle_and_publish(struct ledger *ledger, uint64_t mark)
{
	uint64_t events;

	pthread_mutex_lock(&ledger->lock);
	ledger_write_mark(ledger);
	ledger_settle(ledger, mark, (uint32_t)mark + 1);
	ledger_publish(ledger, mark);
	events = ledger->events;
	pthread_mutex_unlock(&ledger->lock);
	return events;
}

static void write_mark(uint64_t mark, uint64_t events)
{
	struct gpuleak_mark_version *into = &trace.state->marks[mark & 1];

	__atomic_store_n(&into->mark, mark, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	into->when = trace_now();
	into->events = events;
}

/* Caller holds mark_lock. */
static void commit(void)
{
	uint64_t mark = trace.state->committed + 1;
	uint64_t events = 0;

	raise_to(&trace.state->begun, mark);
	for (unsigned i = 0; i < GPULEAK_DEVICES_MAX; i++) {
		struct ledger *ledger = ledger_if_used(i);

		if (ledger)
			events += settle_and_publish(ledger, mark);
	}
	write_mark(mark, events);
	raise_to(&trace.state->committed, mark);
	step = (uint32_t)mark + 1;
	ledger_start_step(step);
}

void mark_step(enum gpuleak_clock clock)
{
	if (!tracer_recording())
		return;
	pthread_mutex_lock(&mark_lock);
	if (trace.state->committed < UINT32_MAX - 2) {
		trace.state->clock = clock;
		commit();
	}
	pthread_mutex_unlock(&mark_lock);
	trace_name_frames(NAMES_PER_MARK);
	slots_marked();
}

/* Caller holds mark_lock. */
static void settle_baseline(void)
{
	raise_to(&trace.state->begun, trace.state->committed + 1);
	for (unsigned i = 0; i < GPULEAK_DEVICES_MAX; i++) {
		struct ledger *ledger = ledger_if_used(i);

		if (!ledger)
			continue;
		pthread_mutex_lock(&ledger->lock);
		ledger_settle(ledger, trace.state->committed + 1, 1);
		pthread_mutex_unlock(&ledger->lock);
	}
	step = 1;
	ledger_start_step(step);
}

void mark_baseline_end(void)
{
	if (!tracer_recording())
		return;
	pthread_mutex_lock(&mark_lock);
	if (step == 0)
		settle_baseline();
	pthread_mutex_unlock(&mark_lock);
}
