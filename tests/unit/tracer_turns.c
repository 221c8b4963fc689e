/*
 * Which allocations begin a turn of a loop: histories of call stacks, one letter a stack.
 * Capitals are within a module; '#' is the building of one; '.' frees a block, ',' frees none
 * and lets a second pass.
 */
#include "tracer/turns.h"

#include <string.h>

#include "tracer/mark.h"
#include "tracer/trace_writer.h"

#include "test.h"

static uint64_t clock_ns;
static uint64_t marks;

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

static void allocate(const char *letter)
{
	static struct stack stack;
	struct turns_turn turn;

	stack.kind = STACK_PYTHON;
	stack.hash = (uint64_t)(unsigned char)*letter * 0x9e3779b97f4a7c15ull;
	stack.python.depth = 1;
	stack.python.frame[0] = letter;
	if (!turns_begin(&stack, &turn))
		return;
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
	for (unsigned i = 0; i < times; i++) {
		for (const char *at = pattern; *at; at++) {
			if (*at == '.')
				turns_freed();
			else if (*at == ',')
				clock_ns += 1000000000u;
			else
				allocate(at);
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
			turns_freed();
		marks += turns_begin(&stack, &turn);
	}
	EXPECT_U64(marks, 191);
	begin();
	for (unsigned i = 0; i < sizeof(letters); i++) {
		struct turns_turn turn;
		struct stack stack = {.kind = STACK_NATIVE, .hash = 1000 + i * 7919};

		clock_ns += 100000000u;
		marks += turns_begin(&stack, &turn);
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

		turns_begin(&stack, &turn);
		play("ab.", 1);
	}
	EXPECT_U64(marks, 5000);
	time_passes();
	return test_result();
}
