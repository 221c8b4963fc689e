#include "tracer/steps.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "gpuleak/gpuleak.h"
#include "tracer/clock.h"
#include "tracer/graphs.h"
#include "tracer/guard.h"
#include "tracer/mark.h"
#include "tracer/optimizer_step.h"
#include "tracer/settings.h"
#include "tracer/trace_writer.h"
#include "tracer/tracer.h"
#include "tracer/turns.h"

#include "tracer/banned.h"

#define EXPORT __attribute__((visibility("default")))

enum {
	PHASE_MAX = 255,
	BACKWARDS = 3, /* before they take over from the turns of a loop */
};

/* Backward passes ended, as far as they count; all that were not captured into a graph. */
static _Atomic(uint32_t) backwards;
static _Atomic(uint32_t) passes;

/* gpuleak_step() was called: it alone is the clock. */
static _Atomic(bool) explicit_steps;

void steps_forget(void)
{
	atomic_store(&explicit_steps, false);
	atomic_store(&backwards, 0);
	atomic_store(&passes, 0);
	optimizer_step_forget();
}

void steps_optimizer_begins(void)
{
	int saved = errno;

	optimizer_step_begins();
	if (!atomic_load(&explicit_steps))
		mark_baseline_end();
	errno = saved;
}

static void optimizer_stepped(uint64_t optimizer)
{
	if (tracer_recording() && !atomic_load(&explicit_steps) &&
	    clock_stepped(optimizer, atomic_load(&passes)))
		mark_step(GPULEAK_CLOCK_OPTIMIZER, 0);
}

void steps_optimizer_ends(uint64_t optimizer)
{
	int saved = errno;

	optimizer_step_ends();
	if (!graphs_captured(optimizer))
		optimizer_stepped(optimizer);
	errno = saved;
}

void steps_optimizer_replayed(uint64_t optimizer)
{
	int saved = errno;

	optimizer_stepped(optimizer);
	errno = saved;
}

static bool backward_counts(void)
{
	return tracer_recording() && !settings.steps_given && mark_counts(MARK_RANK_BACKWARD) &&
	       !optimizer_step_runs(NULL);
}

static void count_backward(void)
{
	uint32_t count = atomic_fetch_add(&backwards, 1) + 1;

	/* A single one in the middle of something else is not what that does. */
	if (count >= BACKWARDS || mark_count() < count)
		mark_step(GPULEAK_CLOCK_BACKWARD, count);
}

void steps_backward_ends(void)
{
	int saved = errno;

	if (!graphs_captured_backward()) {
		atomic_fetch_add(&passes, 1);
		if (backward_counts())
			count_backward();
	}
	errno = saved;
}

void steps_backward_replayed(uint32_t count)
{
	int saved = errno;

	for (uint32_t i = 0; i < count && backward_counts(); i++)
		count_backward();
	errno = saved;
}

/* Which stack leads, for the report. */
static void note_lead(const struct stack *stack)
{
	struct gpuleak_note note = {.kind = GPULEAK_NOTE_CLOCK, .when = trace_now()};
	uint64_t key;

	if (!stack_write(stack, &note.stack, &key))
		return;
	note.step = (uint32_t)mark_count();
	trace_note(&note);
}

/* Seldom wanted: outside of the hook's piece of code. */
__attribute__((noinline)) void steps_allocation(uint32_t device, const struct stack *stack)
{
	int saved = errno;
	struct turns_turn turn;

	if (!settings.steps_given && !optimizer_step_runs(stack) &&
	    turns_begin(device, stack, &turn)) {
		if (turn.restart)
			mark_restart(turn.clock);
		mark_step_in_hook(turn.clock, turn.number, turn.restart ? 0 : turn.marks);
		if (turn.first)
			note_lead(stack);
	}
	errno = saved;
}

void steps_replayed(uint32_t device, const struct stack *stack)
{
	steps_free(device);
	steps_allocation(device, stack);
}

void steps_free(uint32_t device)
{
	if (!settings.steps_given)
		turns_freed(device);
}

EXPORT void gpuleak_step(void)
{
	int saved = errno;

	atomic_store(&explicit_steps, true);
	if (tracer_enter())
		mark_step(GPULEAK_CLOCK_EXPLICIT, 0);
	tracer_leave();
	errno = saved;
}

EXPORT void gpuleak_mark(const char *phase)
{
	int saved = errno;
	struct gpuleak_note note = {.kind = GPULEAK_NOTE_PHASE};

	if (phase && tracer_recording()) {
		note.when = trace_now();
		note.step = (uint32_t)mark_count() + 1;
		note.text = trace_string(phase, strnlen(phase, PHASE_MAX));
		trace_note(&note);
	}
	errno = saved;
}
