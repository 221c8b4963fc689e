/*
 * A made-up interpreter for every row of the offset table: the walk finds its way
 * in the right one, and turns itself off, without a fault, in each wrong one.
 * Each try is a process of its own, since an interpreter is looked for once.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracer/python_collector.h"
#include "tracer/python_offsets.h"
#include "tracer/python_stack.h"

#include "pyframes_interpreter.h"
#include "test.h"

static struct python_stack stack;
static struct python_frame frame;

static void expect_frame(unsigned i, const char *file, const char *function, uint32_t first_line)
{
	bool qualified = fake.offsets->code.qualname != PYTHON_NONE;

	EXPECT(python_frame_resolve(&stack, i, &frame));
	EXPECT_STR(frame.file, file);
	EXPECT_STR(frame.function, function);
	EXPECT_STR(frame.qualname, qualified ? function : "");
	EXPECT_U64(frame.first_line, first_line);
	EXPECT_U64(frame.line, first_line + 1);
	EXPECT_U64(frame.offset, 4);
	EXPECT(!frame.hidden);
}

static void expect_both_frames(void)
{
	EXPECT_U64(python_stack_walk(&stack), PYTHON_STACK_FRAMES);
	EXPECT_U64(stack.depth, 2);
	EXPECT(!stack.cut);
	expect_frame(0, "inner.py", "inner", 10);
	expect_frame(1, "outer.py", "outer", 20);
	EXPECT(!python_frame_resolve(&stack, 2, &frame));
}

/* A thread of free-threaded 3.14 runs its own copy of the bytecode. */
static void walks_copies(void)
{
	const struct python_chain *chain = &fake.offsets->chain;

	if (chain->copy_index == PYTHON_NONE)
		return;
	fake.copies[0] = 2;
	fake.copies[2] = (uintptr_t)fake.copy;
	interpreter_put(fake.inner, chain->copy_index, 1, 4);
	interpreter_put_pointer(fake.inner, chain->instruction, fake.copy + 4);
	expect_both_frames();

	/* A list that was replaced meanwhile: the line is unknown, nothing else. */
	interpreter_put(fake.inner, chain->copy_index, 7, 4);
	EXPECT(python_stack_walk(&stack) == PYTHON_STACK_FRAMES);
	EXPECT(python_frame_resolve(&stack, 0, &frame));
	EXPECT_U64(frame.line, 10);
	EXPECT_STR(frame.function, "inner");
}

/* 3.11 and later hide a frame that has not got past its first instructions. */
static void hides_incomplete_frames(void)
{
	const struct python_offsets *at = fake.offsets;

	if (at->code.first_traceable == PYTHON_NONE)
		return;
	interpreter_put(fake.inner_code, at->code.first_traceable, 3, 4);
	EXPECT(python_stack_walk(&stack) == PYTHON_STACK_FRAMES);
	EXPECT(python_frame_resolve(&stack, 0, &frame));
	EXPECT(frame.hidden);
	interpreter_put(fake.inner, at->chain.owner, 1, 1); /* a generator's */
	EXPECT(python_frame_resolve(&stack, 0, &frame));
	EXPECT(!frame.hidden);
	interpreter_put(fake.inner_code, at->code.first_traceable, 2, 4);
	interpreter_put(fake.inner, at->chain.owner, 0, 1);
	EXPECT(python_frame_resolve(&stack, 0, &frame));
	EXPECT(!frame.hidden);
}

static void walks(void)
{
	errno = 55;
	fake.thread_state = NULL;
	EXPECT(python_attach());
	EXPECT(python_attach());
	EXPECT(python_detached_why() == NULL);
	EXPECT_U64(python_stack_walk(&stack), PYTHON_STACK_NONE);
	fake.thread_state = fake.state;
	fake.finalizing = 1;
	EXPECT_U64(python_stack_walk(&stack), PYTHON_STACK_NONE);
	fake.finalizing = 0;
	expect_both_frames();
	expect_both_frames();

	fake.finalizing = 1;
	EXPECT(!python_frame_resolve(&stack, 0, &frame));
	EXPECT_U64(python_stack_walk(&stack), PYTHON_STACK_NONE);
	EXPECT_U64(stack.depth, 0);
	fake.finalizing = 0;
	hides_incomplete_frames();
	walks_copies();

	interpreter_put_pointer(fake.holder, fake.offsets->chain.holder_frame, NULL);
	if (fake.offsets->chain.holder_frame == PYTHON_NONE)
		interpreter_put_pointer(fake.state, fake.offsets->chain.state_frame, NULL);
	EXPECT_U64(python_stack_walk(&stack), PYTHON_STACK_EMPTY);
	EXPECT_U64(errno, 55);
}

/* How many of Python's functions a walk calls; it must work all the same. */
static unsigned long calls_of_a_walk(void)
{
	unsigned long before;

	EXPECT(python_attach());
	EXPECT(python_stack_walk(&stack) == PYTHON_STACK_FRAMES);
	before = fake.state_calls + fake.finalizing_calls;
	EXPECT(python_stack_walk(&stack) == PYTHON_STACK_FRAMES);
	return fake.state_calls + fake.finalizing_calls - before;
}

static void walks_by_shortcut(void)
{
	const struct python_runtime_offsets *at = &fake.offsets->runtime;
	bool has_key = at->key != PYTHON_NONE;

	EXPECT_U64(calls_of_a_walk(), has_key ? 0 : 1);
	expect_both_frames();
	interpreter_put(_PyRuntime, at->finalizing, 1, 8);
	EXPECT_U64(python_stack_walk(&stack), PYTHON_STACK_NONE);
	EXPECT(!python_frame_resolve(&stack, 0, &frame));
	interpreter_put(_PyRuntime, at->finalizing, 0, 8);
	EXPECT_U64(python_stack_walk(&stack), PYTHON_STACK_FRAMES);
	if (!has_key)
		return;
	interpreter_put(_PyRuntime, at->key, 0, 4); /* the key is gone */
	EXPECT_U64(python_stack_walk(&stack), PYTHON_STACK_NONE);
}

static void walks_by_moved_key(void)
{
	EXPECT_U64(calls_of_a_walk(), fake.offsets->runtime.key != PYTHON_NONE ? 0 : 1);
	expect_both_frames();
}

static void walks_without_shortcut(void)
{
	EXPECT_U64(calls_of_a_walk(), 2);
	expect_both_frames();
}

static void move_key(void)
{
	const struct python_runtime_offsets *at = &fake.offsets->runtime;

	interpreter_start();
	if (at->key == PYTHON_NONE)
		return;
	memcpy(_PyRuntime + at->key + 8, _PyRuntime + at->key, 8);
	memset(_PyRuntime + at->key, 0, 8);
}

static void break_initialized(void)
{
	interpreter_start();
	interpreter_put(_PyRuntime, fake.offsets->runtime.initializing + 12, 2, 4);
}

static void break_interpreter(void)
{
	interpreter_start();
	interpreter_put_pointer(fake.state, 16, fake.state);
}

static void wrong_at_once(void)
{
	EXPECT(!python_attach());
	EXPECT(!python_attach());
	EXPECT(python_detached_why() != NULL);
	EXPECT_U64(python_stack_walk(&stack), PYTHON_STACK_NONE);
	EXPECT(!python_watch_code(NULL));
}

static void wrong_in_the_walk(void)
{
	EXPECT(python_attach());
	for (unsigned i = 0; i < 100; i++) {
		EXPECT_U64(python_stack_walk(&stack), PYTHON_STACK_NONE);
		EXPECT_U64(stack.depth, 0);
	}
	EXPECT(python_detached_why() != NULL);
	EXPECT(!python_attach());
}

static const void *const WILD = (const void *)0x4141414141414140;

static void break_name(void)
{
	interpreter_put_pointer(PyCode_Type, fake.offsets->object.type_name, "cods");
}

static void break_name_pointer(void)
{
	interpreter_put_pointer(PyCode_Type, fake.offsets->object.type_name, WILD);
}

static void break_type(void)
{
	interpreter_put_pointer(PyCode_Type, fake.offsets->object.type, PyBytes_Type);
}

static void break_members(void)
{
	interpreter_put_pointer(PyCode_Type, fake.offsets->object.type_members, NULL);
}

static void break_members_pointer(void)
{
	interpreter_put_pointer(PyCode_Type, fake.offsets->object.type_members, WILD);
}

static void break_file_member(void)
{
	fake.members[0].offset += 8;
}

static void break_lines_member(void)
{
	fake.members[2].offset += 8;
}

static void break_member_name(void)
{
	fake.members[1].name = WILD;
}

static void break_version(void)
{
	snprintf(fake.version, sizeof(fake.version), "3.16.0 (main, tomorrow) [GCC]");
}

static void break_major(void)
{
	fake.version[0] = '4';
}

static void break_thread(void)
{
	interpreter_put(fake.state, fake.offsets->thread_id, (uint64_t)pthread_self() + 1, 8);
}

static void break_state_pointer(void)
{
	fake.thread_state = (void *)(uintptr_t)WILD;
}

static void break_frame_pointer(void)
{
	interpreter_put_pointer(fake.holder, fake.offsets->chain.holder_frame, WILD);
	if (fake.offsets->chain.holder_frame == PYTHON_NONE)
		interpreter_put_pointer(fake.state, fake.offsets->chain.state_frame, WILD);
}

static void break_code_pointer(void)
{
	interpreter_put_pointer(fake.inner, fake.offsets->chain.code, WILD);
}

static void break_code_type(void)
{
	interpreter_put_pointer(fake.outer_code, fake.offsets->object.type, PyBytes_Type);
}

static void break_previous(void)
{
	interpreter_put_pointer(fake.outer, fake.offsets->chain.previous, WILD);
}

/* Run one try in a child; it must end by itself, with all as expected. */
static void in_child(const struct python_offsets *at, void (*breaks)(void), void (*attempt)(void))
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		test_failures = 0;
		interpreter_make(at);
		if (breaks)
			breaks();
		attempt();
		_exit(test_result());
	}
	EXPECT(child > 0 && waitpid(child, &status, 0) == child);
	if (status != 0)
		fprintf(stderr, "3.%u%s: status %#x\n", (unsigned)at->minor,
			at->free_threaded ? "t" : "", (unsigned)status);
	EXPECT(status == 0);
}

static uint8_t broken_word;

static void break_word(void)
{
	/* In the second one the lowest bytes are the patch release: any will do. */
	_PyRuntime[8 * broken_word + (broken_word == 1 ? 2 : 0)] ^= 1;
}

static void break_basicsize(void)
{
	interpreter_put(PyCode_Type, fake.offsets->object.type_basicsize,
			fake.offsets->code.bytecode + 8u, 8);
}

static void break_instruction(void)
{
	interpreter_put_pointer(fake.inner, fake.offsets->chain.instruction,
				fake.inner_code + fake.offsets->code.bytecode + 2 * UNITS);
}

static void refuses_newer_breaks(const struct python_offsets *at)
{
	const uint8_t *words = (const uint8_t *)&at->words;

	if (at->minor >= 11)
		in_child(at, break_basicsize, wrong_at_once);
	if (at->minor >= 11 && at->chain.copy_index == PYTHON_NONE)
		in_child(at, break_instruction, wrong_in_the_walk);
	if (at->minor < 13)
		return;
	for (broken_word = 0; broken_word < 3; broken_word++)
		in_child(at, break_word, wrong_at_once);
	for (unsigned i = 0; i < sizeof(at->words); i++) {
		bool copies = words + i == &at->words.copies || words + i == &at->words.copy_index;

		broken_word = words[i];
		if (!copies || at->chain.copy_index != PYTHON_NONE)
			in_child(at, break_word, wrong_at_once);
	}
}

static void sees_the_collector(void)
{
	EXPECT(!python_collector_find(fake.garbage, fake.callbacks));
	EXPECT(python_attach());
	EXPECT(!python_collecting());
	EXPECT(!python_collector_find(NULL, NULL));
	EXPECT(!python_collector_find(fake.callbacks, fake.garbage));
	EXPECT(python_collector_find(fake.garbage, fake.callbacks));
	EXPECT(!python_collecting());
	interpreter_put(fake.collecting, 0, 1, 4);
	EXPECT(python_collecting());
	fake.finalizing = 1;
	EXPECT(!python_collecting());
}

static void no_collector(void)
{
	EXPECT(python_attach());
	EXPECT(!python_collector_find(fake.garbage, fake.callbacks));
	EXPECT(!python_collecting());
}

/* An int that isn't yes or no. */
static void break_collecting(void)
{
	interpreter_put(fake.collecting, 0, 2, 4);
}

/* The pair stands there twice. */
static void double_lists(void)
{
	interpreter_put_pointer(fake.collecting, 64, fake.garbage);
	interpreter_put_pointer(fake.collecting, 72, fake.callbacks);
}

static void break_state_word(void)
{
	_PyRuntime[8 * fake.offsets->collector.state_word] += 8;
}

static void break_collecting_word(void)
{
	_PyRuntime[8 * fake.offsets->collector.collecting_word] += 8;
}

static void looks_for_the_collector(const struct python_offsets *at)
{
	in_child(at, NULL, sees_the_collector);
	in_child(at, break_collecting, no_collector);
	in_child(at, double_lists, no_collector);
	if (at->minor < 13)
		return;
	in_child(at, break_state_word, no_collector);
	in_child(at, break_collecting_word, no_collector);
}

int main(void)
{
	static void (*const at_once[])(void) = {
		break_name,	    break_name_pointer,	   break_type,
		break_members,	    break_members_pointer, break_file_member,
		break_lines_member, break_member_name,	   break_version,
		break_major,
	};
	static void (*const in_the_walk[])(void) = {
		break_thread,	    break_state_pointer, break_frame_pointer,
		break_code_pointer, break_code_type,	 break_previous,
	};

	for (unsigned i = 0; i < python_offsets_count; i++) {
		const struct python_offsets *at = &python_offsets[i];

		in_child(at, NULL, walks);
		in_child(at, interpreter_start, walks_by_shortcut);
		in_child(at, move_key, walks_by_moved_key);
		in_child(at, break_initialized, walks_without_shortcut);
		in_child(at, break_interpreter, walks_without_shortcut);
		for (unsigned j = 0; j < sizeof(at_once) / sizeof(at_once[0]); j++)
			in_child(at, at_once[j], wrong_at_once);
		for (unsigned j = 0; j < sizeof(in_the_walk) / sizeof(in_the_walk[0]); j++)
			in_child(at, in_the_walk[j], wrong_in_the_walk);
		refuses_newer_breaks(at);
		looks_for_the_collector(at);
	}
	return test_result();
}
