/*
 * The tracer's life: asleep, a trace made ready, recording, paused, off for good.
 *
 * Locks, outermost first.  Take them in this order or not at all.
 *
 *   1. PyTorch's device mutex     not ours: held whenever its allocator calls the hook
 *   2. start_lock                 making and publishing the trace        tracer.c
 *   3. mark_lock                  one mark at a time                     mark.c
 *   4. ledgers_lock               the list of ledgers                    ledger_list.c
 *   5. a ledger's lock            one device's books                     ledger.h
 *   6. loader_lock                walks over the loader's list           native_loader.c
 *   7. intern_lock                strings, frames, stacks, sites, notes  trace_writer.c
 *   8. the slot writer's lock     when to write; never held on the disk  slots.c
 *
 * Taken with no other than the first held, and nothing is taken within them: clock_lock
 * (clock.c), graphs_lock (graphs.c), the lock of a device's turns (turns.c), passes_lock
 * (backward_pass.c), host_lock (host.c, also within mark_lock).
 *
 * Never waited for while any of these is held: the GIL, and the loader's lock as
 * dlopen, dlsym and dladdr take it.  dl_iterate_phdr is allowed: it takes a lock
 * of its own that is held for moments only.
 */
#ifndef GPULEAK_TRACER_TRACER_H
#define GPULEAK_TRACER_TRACER_H

#include <stdbool.h>

enum tracer_state {
	TRACER_ASLEEP = 0,    /* no trace yet */
	TRACER_READY = 1,     /* a trace is made, under a temporary name */
	TRACER_RECORDING = 2, /* it has its name */
	TRACER_PAUSED = 3,
	TRACER_OFF = 4, /* something went wrong: everything is passed through */
};

/*
 * A page of its own, which the kernel gives to each child as zeros: also to one made by
 * clone(2) alone, where no handler of ours runs, and which has no mapping of the trace.
 * So such a child is asleep.  Changed by tracer.c alone.
 */
extern union tracer_page {
	struct {
		int state;  /* enum tracer_state */
		bool known; /* false: a child that doesn't know yet that it is one */
	};
	char bytes[4096];
} tracer_page;

static inline bool tracer_recording(void)
{
	return __atomic_load_n(&tracer_page.state, __ATOMIC_ACQUIRE) == TRACER_RECORDING;
}

/* Allocations are passed by; frees of blocks that were recorded still count. */
static inline bool tracer_paused(void)
{
	return __atomic_load_n(&tracer_page.state, __ATOMIC_ACQUIRE) == TRACER_PAUSED;
}

/*
 * Make the trace ready, at a moment when no lock of the target's is held: files
 * are made and symbols looked up.  Cheap when there is nothing to do.  Keeps errno.
 */
void tracer_prepare(void);

/* True when this event is to be recorded; the first one gives the trace its name. */
bool tracer_take_event(void);

/* Count an event that can't be recorded. */
void tracer_drop_event(void);

/*
 * Stop recording for good and let the target run on.  Says so once, with plain
 * write(2): no stdio, no allocation.  Keeps errno.
 */
void tracer_give_up(const char *why);

#endif
