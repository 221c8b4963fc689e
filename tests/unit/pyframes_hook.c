/*
 * The walk as a library that a Python program loads with ctypes: it walks and
 * resolves its caller's frames, then calls back for Python's own answer, so that
 * both see the same instant.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tracer/python_collector.h"
#include "tracer/python_stack.h"

#define EXPORT __attribute__((visibility("default")))

/* One walk with what it found. */
struct capture {
	uint32_t state, depth, cut, unreadable;
	uint64_t hash;
	struct python_frame frames[PYTHON_STACK_MAX];
};

EXPORT int hook_attach(void);
EXPORT const char *hook_why(void);
EXPORT size_t hook_frame_size(void);
EXPORT void hook_capture(struct capture *capture);
EXPORT int hook_check(void (*answer)(void));
EXPORT int hook_check_object(void *ignored);
EXPORT void hook_check_in_thread(int known);
EXPORT void hook_end(void);
EXPORT void hook_walk_at_end(void);
EXPORT struct capture *hook_last(void);
EXPORT void hook_set_answer(void (*answer)(void));
EXPORT int hook_watch(void);
EXPORT unsigned long hook_deaths(void);
EXPORT int hook_died(const void *code);
EXPORT int hook_collector(const void *garbage, const void *callbacks);
EXPORT int hook_collecting(void);
EXPORT double hook_time(int what, unsigned rounds);

/* Per thread, as the tracer keeps it; never freed, but this is a test. */
struct memory {
	struct python_stack stack;
	struct capture captures[4];
	struct capture *last;
	unsigned nested;
};

static struct memory *memory(void)
{
	static _Thread_local struct memory *mine;

	if (!mine)
		mine = calloc(1, sizeof(*mine));
	return mine;
}

static void (*the_answer)(void);

int hook_attach(void)
{
	return python_attach();
}

const char *hook_why(void)
{
	return python_detached_why();
}

size_t hook_frame_size(void)
{
	return sizeof(struct python_frame);
}

void hook_capture(struct capture *capture)
{
	struct python_stack *stack = &memory()->stack;

	capture->state = python_stack_walk(stack);
	capture->depth = stack->depth;
	capture->cut = stack->cut;
	capture->hash = stack->hash;
	capture->unreadable = 0;
	for (unsigned i = 0; i < stack->depth; i++)
		capture->unreadable += !python_frame_resolve(stack, i, &capture->frames[i]);
	memory()->last = capture;
}

struct capture *hook_last(void)
{
	return memory()->last;
}

/* With or without the GIL: `answer` takes it. */
int hook_check(void (*answer)(void))
{
	struct memory *mine = memory();
	struct capture *capture = &mine->captures[mine->nested++ % 4];

	hook_capture(capture);
	answer();
	mine->nested--;
	return 0;
}

void hook_set_answer(void (*answer)(void))
{
	the_answer = answer;
}

/* For places where Python passes an argument: keys of a sort, weak references, finalizers. */
int hook_check_object(void *ignored)
{
	(void)ignored;
	return hook_check(the_answer);
}

/* Python's, looked up by name: no headers of it here. */
static void *python_function(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}

static void *thread_main(void *known)
{
	int (*ensure)(void) = NULL;
	void *(*detach)(void) = NULL;
	void (*attach)(void *) = NULL;
	void (*release)(int) = NULL;
	void *state = NULL;
	int gil = 0;

	*(void **)&ensure = python_function("PyGILState_Ensure");
	*(void **)&release = python_function("PyGILState_Release");
	*(void **)&detach = python_function("PyEval_SaveThread");
	*(void **)&attach = python_function("PyEval_RestoreThread");
	if (known) {
		gil = ensure();
		state = detach();
	}
	hook_check(the_answer);
	hook_check(the_answer);
	if (known) {
		attach(state);
		release(gil);
	}
	return NULL;
}

/* From a thread of C's own: Python knows it all along, or only by the callback. */
void hook_check_in_thread(int known)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, thread_main, known ? &thread : NULL) == 0)
		pthread_join(thread, NULL);
}

/* Set by a finalizer that runs while Python ends. */
static atomic_bool ending;

void hook_end(void)
{
	ending = true;
}

/* Waits for that moment, then walks and resolves until the process is gone. */
void hook_walk_at_end(void)
{
	struct capture *capture = &memory()->captures[0];

	hook_capture(capture);
	while (!ending)
		usleep(100);
	for (;;) {
		hook_capture(capture);
		python_collecting();
	}
}

/* The last code objects that died, for Python to ask about. */
static const void *dead[1024];
static unsigned long deaths;

static void note_death(const void *code)
{
	dead[__atomic_fetch_add(&deaths, 1, __ATOMIC_RELAXED) % 1024] = code;
}

int hook_watch(void)
{
	return python_watch_code(note_death);
}

unsigned long hook_deaths(void)
{
	return deaths;
}

int hook_died(const void *code)
{
	for (unsigned i = 0; i < 1024; i++) {
		if (dead[i] == code)
			return 1;
	}
	return 0;
}

int hook_collector(const void *garbage, const void *callbacks)
{
	return python_collector_find(garbage, callbacks);
}

int hook_collecting(void)
{
	return python_collecting();
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Push what a walk needs out of the first caches, as a training step does between two hooks. */
static void disturb_caches(void)
{
	static uint8_t other[1 << 20];

	for (size_t i = 0; i < sizeof(other); i += 64)
		other[i]++;
}

/* What hook_time() measures. */
enum {
	TIME_WALK = 0,
	TIME_RESOLVE = 1, /* with all frames resolved */
	TIME_COLD = 2,	  /* with what it needs out of the first caches */
};

static double time_once(int what, unsigned rounds)
{
	static struct python_frame frame;
	struct python_stack *stack = &memory()->stack;
	double start = seconds(), spent = 0;

	if (what == TIME_COLD) {
		for (unsigned i = 0; i < rounds; i++) {
			disturb_caches();
			start = seconds();
			python_stack_walk(stack);
			spent += seconds() - start;
		}
		return spent;
	}
	for (unsigned i = 0; i < rounds; i++) {
		python_stack_walk(stack);
		for (unsigned j = 0; what == TIME_RESOLVE && j < stack->depth; j++)
			python_frame_resolve(stack, j, &frame);
	}
	return seconds() - start;
}

/* Nanoseconds of one round, the best of ten turns. */
double hook_time(int what, unsigned rounds)
{
	double best = 1e9;

	for (unsigned turn = 0; turn < 10; turn++) {
		double spent = time_once(what, rounds) / rounds * 1e9;

		best = spent < best ? spent : best;
	}
	return best;
}
