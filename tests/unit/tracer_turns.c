/*
 * Which allocations begin a turn of a loop: histories of call stacks, one letter a stack.
 * Capitals are within a module; '#' is the building of one; '.' frees a block, ',' frees none
 * and lets a second pass.  From a digit on all is on the device of that number, until play() ends.
 */
#include "tracer/turns.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "tracer/mark.h"
#include "tracer/trace_writer.h"

#include "test.h"

static uint64_t clock_ns;
static _Atomic(uint64_t) marks;

uint64_t trace_now(void)
{
	return clock_ns;
}

uint64_t mark_count(void)
{
	return marks;
}

/* A stack of one frame, which is the letter. */
bool python_frame_resolve(const struct python_stack *stack, unsigned i, struct python_frame *frame)
{
	char letter = *(const char *)stack->frame[i];

	memset(frame, 0, sizeof(*frame));
	strcpy(frame->file, "/lib/torch/nn/modules/module.py");
	strcpy(frame->function, letter == '#'	? "_apply"
				: letter <= 'Z' ? "_wrapped_call_impl"
						: "forward");
	return true;
}

/* One module for all. */
uint64_t python_frame_argument(const struct python_stack *stack, unsigned i)
{
	(void)stack;
	return i + 1;
}

static enum gpuleak_clock last_clock;

static void allocate(uint32_t device, const char *letter)
{
	static struct stack stack;
	struct turns_turn turn;

	stack.kind = STACK_PYTHON;
	stack.hash = (uint64_t)(unsigned char)*letter * 0x9e3779b97f4a7c15ull;
	stack.python.depth = 1;
	stack.python.frame[0] = letter;
	if (!turns_begin(device, &stack, &turn))
		return;
	EXPECT_U64(turn.marks, marks);
	if (turn.restart)
		marks = 0;
	if (!turn.number)
		marks++;
	else if (turn.number > marks)
		marks = turn.number;
	last_clock = turn.clock;
}

/* The marks that `times` times the pattern makes, beside those there are. */
static uint64_t play(const char *pattern, unsigned times)
{
	uint32_t device = 0;

	for (unsigned i = 0; i < times; i++) {
		for (const char *at = pattern; *at; at++) {
			if (*at >= '0' && *at <= '9')
				device = (uint32_t)(*at - '0');
			else if (*at == '.')
				turns_freed(device);
			else if (*at == ',')
				clock_ns += 1000000000u;
			else
				allocate(device, at);
		}
	}
	return marks;
}

static void begin(void)
{
	turns_forget();
	clock_ns = 0;
	marks = 0;
	last_clock = GPULEAK_CLOCK_NONE;
}

#define EXPECT_TURNS(pattern, times, expected)                                                    \
	do {                                                                                      \
		uint64_t test_turns = play(pattern, times);                                       \
                                                                                                  \
		if (test_turns != (expected)) {                                                   \
			test_failed(__FILE__, __LINE__);                                          \
			fprintf(stderr, "%u times %s: %llu turns, expected %u\n", times, pattern, \
				(unsigned long long)test_turns, (unsigned)(expected));            \
		}                                                                                 \
	} while (0)

/* Stacks that never come again: each second in which something is freed is a step. */
static void time_passes(void)
{
	static char letters[2000];

	begin();
	for (unsigned i = 0; i < sizeof(letters); i++) {
		struct turns_turn turn;
		struct stack stack = {.kind = STACK_NATIVE, .hash = 1000 + i * 7919};

		clock_ns += 100000000u;
		if (i % 2)
			turns_freed(0);
		marks += turns_begin(0, &stack, &turn);
	}
	EXPECT_U64(marks, 191);
	begin();
	for (unsigned i = 0; i < sizeof(letters); i++) {
		struct turns_turn turn;
		struct stack stack = {.kind = STACK_NATIVE, .hash = 1000 + i * 7919};

		clock_ns += 100000000u;
		marks += turns_begin(0, &stack, &turn);
	}
	EXPECT_U64(marks, 0);
}

/* Of one thread's loop one device's turns are steps, whichever comes first. */
static void one_loop_on_two_devices(void)
{
	begin();
	EXPECT_TURNS("0aA.1B.C.", 100, 100);
	EXPECT_U64(last_clock, GPULEAK_CLOCK_LOOP);
	/* The loop's own allocation is on the device that comes later, or is seen later. */
	begin();
	EXPECT_TURNS("0A.B.1a.", 100, 100);
	EXPECT_U64(last_clock, GPULEAK_CLOCK_LOOP);
	begin();
	EXPECT_TURNS("1a.0A.B.A.", 100, 100);
	EXPECT_U64(last_clock, GPULEAK_CLOCK_LOOP);
	/* All of it in modules, of which one is called ten times a turn. */
	begin();
	EXPECT_TURNS("0A.1B.B.B.B.B.B.B.B.B.B.", 100, 100);
	EXPECT_U64(last_clock, GPULEAK_CLOCK_MODULE);
	/* One line for both: each batch is copied to both, or they take turns. */
	begin();
	EXPECT_TURNS("0a.1a.", 100, 100);
	/* Four devices. */
	begin();
	EXPECT_TURNS("3A.2A.B.1B.C.0a.C.", 100, 100);
	EXPECT_U64(last_clock, GPULEAK_CLOCK_LOOP);
	/* Something on the other device, in the loop, comes once in fifty calls. */
	begin();
	for (unsigned i = 0; i < 10; i++)
		play(i ? "1a.0A.B." : "0A.B.", 1), play("0A.B.", 49);
	EXPECT_U64(marks, 500);
	EXPECT_U64(last_clock, GPULEAK_CLOCK_MODULE);
	/* Much more happens there in each turn. */
	begin();
	EXPECT_TURNS("0a.1#.#.#.#.#.#.#.#.#.#.#.#.#.#.#.#.A.B.C.D.E.F.G.H.I.J.K.L.M.N.O.P.Q.R.",
		     100, 100);
	EXPECT_U64(last_clock, GPULEAK_CLOCK_LOOP);
}

/* The count goes on with the other device's. */
static void one_device_after_the_other(void)
{
	begin();
	EXPECT_TURNS("0ab.c.", 100, 100);
	EXPECT_TURNS("1ab.c.", 100, 200);
	EXPECT_TURNS("0ab.c.", 100, 300);
	EXPECT_TURNS("1de.f.", 100, 400);
	/* The first one was of use at the start alone: all but as many as it led are counted. */
	begin();
	EXPECT_TURNS("0a.", 3, 3);
	EXPECT_TURNS("1AB.C.", 100, 103);
	/* Weights are loaded on the first one, and nothing is freed. */
	begin();
	EXPECT_TURNS("0a", 1000, 0);
	EXPECT_TURNS("1ab.", 100, 100);
	/* A loop there while the other's goes on changes nothing. */
	begin();
	EXPECT_TURNS("0a.", 20, 20);
	EXPECT_TURNS("0a.1b.", 100, 120);
	EXPECT_TURNS("0a.", 20, 140);
}

static void *play_in_thread(void *pattern)
{
	play(pattern, 1);
	return NULL;
}

/* Two threads: the faster one's turns are steps, and a slower one within modules is no outer loop.
 */
static void two_threads(void)
{
	begin();
	for (unsigned i = 0; i < 100; i++) {
		pthread_t thread;

		play("0A.A.A.A.A.A.A.A.A.A.", 1);
		pthread_create(&thread, NULL, play_in_thread, "1B.");
		pthread_join(thread, NULL);
	}
	EXPECT_U64(marks, 1000);
}

enum {
	APART = 20000
};

/* A loop of one allocation a turn; number: the device. */
static void *loop_apart(void *number)
{
	struct stack stack = {.kind = STACK_NATIVE, .hash = 1};
	uint32_t device = *(const uint32_t *)number;

	for (unsigned i = 0; i < APART; i++) {
		struct turns_turn turn;
		uint64_t before = marks;

		turns_freed(device);
		if (!turns_begin(device, &stack, &turn))
			continue;
		/* As mark.c, which does it under a lock. */
		while (turn.number > before &&
		       !atomic_compare_exchange_weak(&marks, &before, turn.number))
			;
	}
	return NULL;
}

/* At once: each turn is one of the one that leads, and when that ends the other one's count. */
static void two_threads_at_once(void)
{
	uint32_t numbers[2] = {0, 1};
	pthread_t threads[2];

	begin();
	for (unsigned i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, loop_apart, &numbers[i]);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	EXPECT(marks >= APART - APART / 10 && marks <= 2 * APART);
}

/* Time is one clock, whichever device is at work. */
static void time_passes_on_two_devices(void)
{
	begin();
	for (unsigned i = 0; i < 2000; i++) {
		struct turns_turn turn;
		struct stack stack = {.kind = STACK_NATIVE, .hash = 1000 + i * 7919};

		clock_ns += 50000000u;
		turns_freed(i % 2);
		marks += turns_begin(i % 2, &stack, &turn);
	}
	EXPECT_U64(marks, 91);
}

/* A device there is no room for. */
static void device_out_of_range(void)
{
	begin();
	for (unsigned i = 0; i < 100; i++) {
		struct turns_turn turn;
		struct stack stack = {.kind = STACK_NATIVE, .hash = 1};

		turns_freed(GPULEAK_DEVICES_MAX);
		marks += turns_begin(GPULEAK_DEVICES_MAX, &stack, &turn);
		marks += turns_begin(UINT32_MAX, &stack, &turn);
	}
	EXPECT_U64(marks, 0);
}

int main(void)
{
	/* A loop of the program's own. */
	begin();
	EXPECT_TURNS("ab.", 100, 100);
	EXPECT_U64(last_clock, GPULEAK_CLOCK_LOOP);
	/* Nothing is freed: data or weights are loaded. */
	begin();
	EXPECT_TURNS("a", 1000, 0);
	EXPECT_U64(last_clock, GPULEAK_CLOCK_NONE);
	/* Calls of a module; one part of it comes three times a call. */
	begin();
	EXPECT_TURNS("AB.B.B.C.", 100, 100);
	EXPECT_U64(last_clock, GPULEAK_CLOCK_MODULE);
	/* The loop's own allocation is preferred to the module's. */
	begin();
	EXPECT_TURNS("aAB.B.B.C.", 100, 100);
	EXPECT_U64(last_clock, GPULEAK_CLOCK_LOOP);
	/* Something in the loop that comes once in fifty calls doesn't take over. */
	begin();
	for (unsigned i = 0; i < 10; i++)
		play(i ? "aA.B." : "A.B.", 1), play("A.B.", 49);
	EXPECT_U64(marks, 500);
	EXPECT_U64(last_clock, GPULEAK_CLOCK_MODULE);
	/* Building a module comes before the loop, with or without what it frees. */
	begin();
	EXPECT_TURNS("#", 300, 0);
	EXPECT_TURNS("#.", 300, 0);
	EXPECT_TURNS("aA.", 50, 50);
	/* Another loop after the first: the count goes on. */
	begin();
	EXPECT_TURNS("ab.c.", 100, 100);
	EXPECT_TURNS("de.f.", 100, 200);
	/* More stacks than are known at a time: the lead stays. */
	begin();
	for (uint64_t i = 1; i <= 5000; i++) {
		struct turns_turn turn;
		struct stack stack = {.kind = STACK_NATIVE, .hash = i << 32 | 1};

		turns_begin(0, &stack, &turn);
		play("ab.", 1);
	}
	EXPECT_U64(marks, 5000);
	time_passes();
	one_loop_on_two_devices();
	one_device_after_the_other();
	two_threads();
	two_threads_at_once();
	time_passes_on_two_devices();
	device_out_of_range();
	return test_result();
}
