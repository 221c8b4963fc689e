#include "tracer/tracer.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "gpuleak/gpuleak.h"
#include "trace/layout.h"
#include "tracer/agent.h"
#include "tracer/backward_pass.h"
#include "tracer/cancel.h"
#include "tracer/clock.h"
#include "tracer/describe.h"
#include "tracer/graphs.h"
#include "tracer/hook_exit.h"
#include "tracer/host.h"
#include "tracer/ledger.h"
#include "tracer/mark.h"
#include "tracer/native_loader.h"
#include "tracer/native_names.h"
#include "tracer/native_stack.h"
#include "tracer/notice.h"
#include "tracer/python_api.h"
#include "tracer/python_collector.h"
#include "tracer/settings.h"
#include "tracer/slots.h"
#include "tracer/stack.h"
#include "tracer/steps.h"
#include "tracer/thread.h"
#include "tracer/trace_writer.h"
#include "tracer/turns.h"

#include "tracer/banned.h"

#define EXPORT __attribute__((visibility("default")))

union tracer_page tracer_page __attribute__((aligned(sizeof(union tracer_page))));

/* The parent's state, for its child. */
static int state_before_fork;

/* Set in a child of fork. */
static bool forked;

/* gpuleak_pause() was called before the first event, which has no trace to count it. */
static _Atomic(bool) paused_before;

/* The order of locks is in tracer.h. */
static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;

static void set_state(enum tracer_state state)
{
	__atomic_store_n(&tracer_page.state, (int)state, __ATOMIC_RELEASE);
	__atomic_store_n(&state_before_fork, (int)state, __ATOMIC_RELAXED);
}

static enum tracer_state get_state(void)
{
	return (enum tracer_state)__atomic_load_n(&tracer_page.state, __ATOMIC_ACQUIRE);
}

void tracer_give_up(const char *why)
{
	if (get_state() == TRACER_OFF)
		return;
	set_state(TRACER_OFF);
	if (trace.state) {
		trace.state->gave_up_why = trace_string(why, strlen(why));
		trace.state->status = GPULEAK_STATUS_GAVE_UP;
	}
	notice_say(why, ": not recording, the program runs on", NULL);
}

static void describe_stacks(void)
{
	const char *why = python_detached_why();

	if (settings.stacks == SETTINGS_STACKS_NATIVE || settings.stacks == SETTINGS_STACKS_NONE)
		why = "GPULEAK_STACKS says so";
	if (why)
		trace.run->python_why = trace_string(why, strlen(why));
	else
		trace.run->flags |= GPULEAK_RUN_PYTHON_STACKS;
	if (stack_native_ready())
		trace.run->flags |= GPULEAK_RUN_NATIVE_STACKS;
	if (python_collecting_at)
		trace.run->flags |= GPULEAK_RUN_COLLECTIONS;
}

static void before_fork(void)
{
	slots_fork_begins();
	native_loader_fork_begins();
}

static void after_fork_in_parent(void)
{
	native_loader_fork_ended();
	slots_fork_ended();
}

/* A child of fork writes a trace of its own, made at its first event, or none. */
static void after_fork_in_child(void)
{
	if (state_before_fork == TRACER_PAUSED)
		atomic_store(&paused_before, true);
	set_state(state_before_fork == TRACER_OFF && !trace.state ? TRACER_OFF : TRACER_ASLEEP);
	tracer_page.known = true;
	native_loader_forget();
	forked = true;
	pthread_mutex_init(&start_lock, NULL);
	trace_writer_forget();
	slots_forget();
	ledger_forget_all();
	mark_forget();
	clock_forget();
	steps_forget();
	graphs_forget();
	turns_forget();
	backward_forget();
	host_forget();
	agent_forget();
}

/* A child of clone(2) alone finds out here that it is one. */
static void meet_child(void)
{
	if (!__atomic_exchange_n(&tracer_page.known, true, __ATOMIC_ACQ_REL))
		after_fork_in_child();
}

static void begin_once(void)
{
	/* From Linux 4.14 on. */
	madvise(&tracer_page, sizeof(tracer_page), MADV_WIPEONFORK);
	tracer_page.known = true;
	settings_read();
	thread_init();
	stack_attach();
	python_api_find();
	hook_exit_open();
	pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

/* Other libraries' constructors run before ours and may call the hooks. */
__attribute__((constructor)) static void begin(void)
{
	static pthread_once_t begun = PTHREAD_ONCE_INIT;
	int saved = errno;
	int cancel = cancel_put_off();

	pthread_once(&begun, begin_once);
	cancel_allow(cancel);
	errno = saved;
}

/* Caller holds start_lock. */
static void make_trace(uint64_t size, uint64_t ring)
{
	struct output_file file;

	stack_attach();
	if (!output_file_make(&file, size)) {
		tracer_give_up(file.why);
		return;
	}
	if (!trace_writer_init(&file, ring)) {
		trace.file = file;
		output_file_discard(&trace.file);
		tracer_give_up("GPULEAK_SIZE or GPULEAK_RING leaves too little room");
		return;
	}
	describe_process();
	describe_stacks();
	if (!slots_begin()) {
		output_file_discard(&trace.file);
		tracer_give_up("no memory for the trace");
		return;
	}
	set_state(TRACER_READY);
}

void tracer_prepare(void)
{
	int saved = errno;
	int cancel;

	if (get_state() != TRACER_ASLEEP)
		return;
	begin();
	meet_child();
	cancel = cancel_put_off();
	pthread_mutex_lock(&start_lock);
	if (get_state() == TRACER_ASLEEP)
		make_trace(settings.size, settings.ring);
	pthread_mutex_unlock(&start_lock);
	cancel_allow(cancel);
	errno = saved;
}

/* Caller holds start_lock. */
static void publish(void)
{
	if (!output_file_publish(&trace.file)) {
		output_file_discard(&trace.file);
		tracer_give_up(trace.file.why);
		return;
	}
	set_state(TRACER_RECORDING);
	if (settings.complaint[0])
		notice_say(settings.complaint, NULL);
}

static bool start_recording(void)
{
	int saved = errno;
	int cancel;

	tracer_prepare();
	cancel = cancel_put_off();
	pthread_mutex_lock(&start_lock);
	if (get_state() == TRACER_READY)
		publish();
	pthread_mutex_unlock(&start_lock);
	if (tracer_recording())
		agent_insist();
	cancel_allow(cancel);
	errno = saved;
	return tracer_recording();
}

__attribute__((cold, noinline)) static bool take_unusual_event(void)
{
	switch (get_state()) {
	case TRACER_RECORDING:
		return true;
	case TRACER_PAUSED:
		trace_count(&trace.state->paused_events);
		return false;
	case TRACER_OFF:
		return false;
	default:
		begin();
		meet_child();
		return !atomic_load(&paused_before) && start_recording();
	}
}

bool tracer_take_event(void)
{
	return tracer_recording() || take_unusual_event();
}

void tracer_drop_event(void)
{
	trace_count(&trace.state->dropped_events);
}

EXPORT void gpuleak_pause(void)
{
	int state = TRACER_RECORDING;

	if (__atomic_compare_exchange_n(&tracer_page.state, &state, TRACER_PAUSED, false,
					__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		state_before_fork = TRACER_PAUSED;
	else
		atomic_store(&paused_before, state < TRACER_RECORDING);
}

EXPORT void gpuleak_resume(void)
{
	int paused = TRACER_PAUSED;

	atomic_store(&paused_before, false);
	if (__atomic_compare_exchange_n(&tracer_page.state, &paused, TRACER_RECORDING, false,
					__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		state_before_fork = TRACER_RECORDING;
}

/* PyTorch with CUDA is loaded: the program might have been expected to use a GPU. */
static bool cuda_loaded(void)
{
	return native_find_export("libc10_cuda.so", "_ZN3c104cuda12device_countEv") != NULL;
}

/*
 * A process that loaded CUDA and never allocated says so in an empty trace, so that
 * yesterday's does not pass for today's.  Not a helper: a child of fork, or a worker
 * beside a process that has a trace.
 */
static void finish_empty(void)
{
	static const char why[] = "the process ended without a GPU allocation";

	pthread_mutex_lock(&start_lock);
	if (get_state() == TRACER_ASLEEP && !forked && cuda_loaded())
		make_trace(LAYOUT_SIZE_MIN, 0);
	if (get_state() == TRACER_READY && output_file_superfluous(&trace.file)) {
		output_file_discard(&trace.file);
		set_state(TRACER_OFF);
	} else if (get_state() == TRACER_READY) {
		trace.run->empty_why = trace_string(why, sizeof(why) - 1);
		publish();
		if (get_state() == TRACER_RECORDING)
			notice_say(why, ": ", trace.file.name.path, " is empty", NULL);
	}
	pthread_mutex_unlock(&start_lock);
}

static void finish(void)
{
	if (get_state() != TRACER_OFF) {
		ledger_catch_up_all();
		native_names_give(10000);
		trace.state->finished = trace_now();
		__atomic_store_n(&trace.state->status, GPULEAK_STATUS_FINISHED, __ATOMIC_RELEASE);
	}
	slots_finish();
}

/* Marks the trace complete.  Frees nothing: hooks may still be called. */
__attribute__((destructor)) static void end(void)
{
	int saved = errno;

	meet_child();
	if (get_state() < TRACER_RECORDING)
		finish_empty();
	if (trace.state && trace.file.published)
		finish();
	errno = saved;
}
