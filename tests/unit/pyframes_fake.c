/*
 * A made-up interpreter for every row of the offset table: the walk finds its way
 * in the right one, and turns itself off, without a fault, in each wrong one.
 * Each try is a process of its own, since an interpreter is looked for once.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracer/python_offsets.h"
#include "tracer/python_stack.h"

#include "test.h"

#define EXPORT __attribute__((visibility("default")))
#define OBJECT EXPORT uint8_t __attribute__((aligned(16)))

/* What the walk looks up by name. */
extern OBJECT PyCode_Type[512], PyType_Type[512], PyBytes_Type[512], _PyRuntime[4096];
EXPORT const char *Py_GetVersion(void);
EXPORT int Py_IsFinalizing(void);
EXPORT int _Py_IsFinalizing(void);
EXPORT void *PyGILState_GetThisThreadState(void);

uint8_t PyCode_Type[512], PyType_Type[512], PyBytes_Type[512], _PyRuntime[4096];

enum {
	UNITS = 100 /* of bytecode in each code object */
};

/* The rest of the interpreter: one thread, three frames, two code objects. */
static struct fake {
	const struct python_offsets *offsets;
	char version[64];
	int finalizing;
	void *thread_state;
	uint8_t state[512] __attribute__((aligned(16)));
	uint8_t holder[64] __attribute__((aligned(16)));
	uint8_t inner[128], shim[128], outer[128] __attribute__((aligned(16)));
	uint8_t inner_code[1024] __attribute__((aligned(16)));
	uint8_t outer_code[1024] __attribute__((aligned(16)));
	uint8_t strings[4][128] __attribute__((aligned(16)));
	uint8_t lines[64] __attribute__((aligned(16)));
	uint8_t bytecode[64] __attribute__((aligned(16)));
	uint8_t str_type[512] __attribute__((aligned(16)));
	uint8_t copy[2 * UNITS];
	uint64_t copies[3];
	struct {
		const char *name;
		uint64_t type, offset, flags;
		const char *doc;
	} members[6];
} fake;

static unsigned long state_calls, finalizing_calls;

const char *Py_GetVersion(void)
{
	return fake.version;
}

int Py_IsFinalizing(void)
{
	finalizing_calls++;
	return fake.finalizing;
}

int _Py_IsFinalizing(void)
{
	finalizing_calls++;
	return fake.finalizing;
}

void *PyGILState_GetThisThreadState(void)
{
	state_calls++;
	return fake.thread_state;
}

static void put(uint8_t *object, uint16_t offset, uint64_t value, size_t size)
{
	if (offset != PYTHON_NONE)
		memcpy(object + offset, &value, size);
}

static void put_pointer(uint8_t *object, uint16_t offset, const void *pointer)
{
	put(object, offset, (uintptr_t)pointer, sizeof(pointer));
}

static void make_types(void)
{
	const struct python_offsets *at = fake.offsets;
	const struct python_code_offsets *code = &at->code;
	unsigned count = 0;

	put_pointer(PyCode_Type, at->object.type, PyType_Type);
	put_pointer(PyCode_Type, at->object.type_name, "code");
	put(PyCode_Type, at->object.type_basicsize, code->bytecode, 8);
	fake.members[count].name = "co_filename";
	fake.members[count++].offset = code->file;
	fake.members[count].name = "co_name";
	fake.members[count++].offset = code->function;
	fake.members[count].name = at->minor < 10 ? "co_lnotab" : "co_linetable";
	fake.members[count++].offset = code->lines;
	fake.members[count].name = "co_firstlineno";
	fake.members[count++].offset = code->first_line;
	if (code->qualname != PYTHON_NONE) {
		fake.members[count].name = "co_qualname";
		fake.members[count++].offset = code->qualname;
	}
	put_pointer(PyCode_Type, at->object.type_members, fake.members);
	put(fake.str_type, at->object.type_flags, 1u << 28, 8);
}

static void put_word(unsigned word, uint64_t value)
{
	put(_PyRuntime, (uint16_t)(8 * word), value, 8);
}

static void make_runtime(void)
{
	const struct python_offsets *at = fake.offsets;
	const struct python_debug_words *word = &at->words;

	if (at->minor < 13)
		return;
	memcpy(_PyRuntime, "xdebugpy", 8);
	put_word(1, 0x030000f0u | (unsigned)at->minor << 16);
	put_word(2, at->free_threaded);
	put_word(word->finalizing, at->runtime.finalizing);
	put_word(word->state_frame, at->chain.state_frame);
	put_word(word->thread_id, at->thread_id);
	put_word(word->previous, at->chain.previous);
	put_word(word->code, at->chain.code);
	put_word(word->instruction, at->chain.instruction);
	put_word(word->owner, at->chain.owner);
	put_word(word->file, at->code.file);
	put_word(word->function, at->code.function);
	put_word(word->qualname, at->code.qualname);
	put_word(word->lines, at->code.lines);
	put_word(word->first_line, at->code.first_line);
	put_word(word->bytecode, at->code.bytecode);
	put_word(word->type, at->object.type);
	put_word(word->size, at->object.size);
	put_word(word->bytes_data, at->object.bytes_data);
	put_word(word->str_state, at->object.str_state);
	put_word(word->str_length, at->object.str_length);
	put_word(word->str_ascii, at->object.str_ascii);
	if (word->copy_index && at->chain.copy_index != PYTHON_NONE) {
		put_word(word->copy_index, at->chain.copy_index);
		put_word(word->copies, at->code.copies);
	}
}

static const uint8_t *make_str(unsigned i, const char *text)
{
	const struct python_object_offsets *at = &fake.offsets->object;
	uint8_t *str = fake.strings[i];

	put_pointer(str, at->type, fake.str_type);
	put(str, at->str_length, strlen(text), 8);
	put(str, at->str_state, (1u | 1u << 3 | 1u << 4) << at->str_kind_shift, 4);
	memcpy(str + at->str_ascii, text, strlen(text));
	return str;
}

static void make_code(uint8_t *code, unsigned number, const char *file, const char *function)
{
	const struct python_offsets *at = fake.offsets;

	put_pointer(code, at->object.type, PyCode_Type);
	put(code, at->code.first_line, 10 * (number + 1), 4);
	put_pointer(code, at->code.file, make_str(2 * number, file));
	put_pointer(code, at->code.function, make_str(2 * number + 1, function));
	put_pointer(code, at->code.qualname, fake.strings[2 * number + 1]);
	put_pointer(code, at->code.lines, fake.lines);
	put_pointer(code, at->code.copies, fake.copies);
	if (at->minor >= 11)
		put(code, at->object.size, UNITS, 8);
	else
		put_pointer(code, at->code.bytecode, fake.bytecode);
}

/* At byte 4 of its code, which the line table gives to the line after the first. */
static void make_frame(uint8_t *frame, const uint8_t *code, const uint8_t *previous)
{
	const struct python_offsets *at = fake.offsets;
	uintptr_t tag = at->minor >= 14;

	put(frame, at->chain.code, (uintptr_t)code | tag, 8);
	put_pointer(frame, at->chain.previous, previous);
	if (at->chain.instruction_is_int)
		put(frame, at->chain.instruction, 4 / at->unit, 4);
	else
		put_pointer(frame, at->chain.instruction, code + at->code.bytecode + 4);
}

static void make_lines(void)
{
	static const uint8_t lnotab[] = {4, 1};
	static const uint8_t table[] = {4, 0, 4, 1};
	static const uint8_t locations[] = {0x80 | 10 << 3 | 1, 0, 0, 0x80 | 11 << 3 | 1, 0, 0};
	const struct python_offsets *at = fake.offsets;
	const uint8_t *bytes = at->minor < 10 ? lnotab : at->minor == 10 ? table : locations;
	size_t size = at->minor < 10	? sizeof(lnotab)
		      : at->minor == 10 ? sizeof(table)
					: sizeof(locations);

	put_pointer(fake.lines, at->object.type, PyBytes_Type);
	put(fake.lines, at->object.size, size, 8);
	memcpy(fake.lines + at->object.bytes_data, bytes, size);
	put(fake.bytecode, at->object.size, 2 * UNITS, 8);
}

static void make(const struct python_offsets *at)
{
	fake.offsets = at;
	snprintf(fake.version, sizeof(fake.version), "3.%u.1%s (main, today) [GCC]",
		 (unsigned)at->minor,
		 at->free_threaded ? " experimental free-threading build" : "");
	make_types();
	make_runtime();
	make_lines();
	make_code(fake.inner_code, 0, "inner.py", "inner");
	make_code(fake.outer_code, 1, "outer.py", "outer");
	make_frame(fake.outer, fake.outer_code, NULL);
	make_frame(fake.shim, (const uint8_t *)0x4141414141414140, fake.outer);
	make_frame(fake.inner, fake.inner_code, at->chain.shims ? fake.shim : fake.outer);
	if (at->chain.shims)
		put(fake.shim, at->chain.owner, 3, 1);

	if (at->chain.holder_frame != PYTHON_NONE)
		put_pointer(fake.holder, at->chain.holder_frame, fake.inner);
	put_pointer(fake.state, at->chain.state_frame,
		    at->chain.holder_frame != PYTHON_NONE ? fake.holder : fake.inner);
	put(fake.state, at->thread_id, (uint64_t)pthread_self(), 8);
	fake.thread_state = fake.state;
}

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
	put(fake.inner, chain->copy_index, 1, 4);
	put_pointer(fake.inner, chain->instruction, fake.copy + 4);
	expect_both_frames();

	/* A list that was replaced meanwhile: the line is unknown, nothing else. */
	put(fake.inner, chain->copy_index, 7, 4);
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
	put(fake.inner_code, at->code.first_traceable, 3, 4);
	EXPECT(python_stack_walk(&stack) == PYTHON_STACK_FRAMES);
	EXPECT(python_frame_resolve(&stack, 0, &frame));
	EXPECT(frame.hidden);
	put(fake.inner, at->chain.owner, 1, 1); /* a generator's */
	EXPECT(python_frame_resolve(&stack, 0, &frame));
	EXPECT(!frame.hidden);
	put(fake.inner_code, at->code.first_traceable, 2, 4);
	put(fake.inner, at->chain.owner, 0, 1);
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

	put_pointer(fake.holder, fake.offsets->chain.holder_frame, NULL);
	if (fake.offsets->chain.holder_frame == PYTHON_NONE)
		put_pointer(fake.state, fake.offsets->chain.state_frame, NULL);
	EXPECT_U64(python_stack_walk(&stack), PYTHON_STACK_EMPTY);
	EXPECT_U64(errno, 55);
}

/* What a running interpreter has in _PyRuntime beside the offsets. */
static void make_runtime_state(void)
{
	const struct python_runtime_offsets *at = &fake.offsets->runtime;
	static const uint8_t interpreter;
	pthread_key_t key;

	for (uint16_t i = 4; i < 16; i += 4)
		put(_PyRuntime, at->initializing + i, 1, 4);
	put_pointer(_PyRuntime, at->finalizing + 16, &interpreter);
	put_pointer(_PyRuntime, at->finalizing + 24, &interpreter);
	put_pointer(fake.state, 16, &interpreter);
	EXPECT(pthread_key_create(&key, NULL) == 0);
	EXPECT(pthread_setspecific(key, fake.state) == 0);
	put(_PyRuntime, at->key, 1, 4);
	put(_PyRuntime, at->key == PYTHON_NONE ? PYTHON_NONE : at->key + 4, key, 4);
}

/* How many of Python's functions a walk calls; it must work all the same. */
static unsigned long calls_of_a_walk(void)
{
	unsigned long before;

	EXPECT(python_attach());
	EXPECT(python_stack_walk(&stack) == PYTHON_STACK_FRAMES);
	before = state_calls + finalizing_calls;
	EXPECT(python_stack_walk(&stack) == PYTHON_STACK_FRAMES);
	return state_calls + finalizing_calls - before;
}

static void walks_by_shortcut(void)
{
	const struct python_runtime_offsets *at = &fake.offsets->runtime;
	bool has_key = at->key != PYTHON_NONE;

	EXPECT_U64(calls_of_a_walk(), has_key ? 0 : 1);
	expect_both_frames();
	put(_PyRuntime, at->finalizing, 1, 8);
	EXPECT_U64(python_stack_walk(&stack), PYTHON_STACK_NONE);
	EXPECT(!python_frame_resolve(&stack, 0, &frame));
	put(_PyRuntime, at->finalizing, 0, 8);
	EXPECT_U64(python_stack_walk(&stack), PYTHON_STACK_FRAMES);
	if (!has_key)
		return;
	put(_PyRuntime, at->key, 0, 4); /* the key is gone */
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

	make_runtime_state();
	if (at->key == PYTHON_NONE)
		return;
	memcpy(_PyRuntime + at->key + 8, _PyRuntime + at->key, 8);
	memset(_PyRuntime + at->key, 0, 8);
}

static void break_initialized(void)
{
	make_runtime_state();
	put(_PyRuntime, fake.offsets->runtime.initializing + 12, 2, 4);
}

static void break_interpreter(void)
{
	make_runtime_state();
	put_pointer(fake.state, 16, fake.state);
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
	put_pointer(PyCode_Type, fake.offsets->object.type_name, "cods");
}

static void break_name_pointer(void)
{
	put_pointer(PyCode_Type, fake.offsets->object.type_name, WILD);
}

static void break_type(void)
{
	put_pointer(PyCode_Type, fake.offsets->object.type, PyBytes_Type);
}

static void break_members(void)
{
	put_pointer(PyCode_Type, fake.offsets->object.type_members, NULL);
}

static void break_members_pointer(void)
{
	put_pointer(PyCode_Type, fake.offsets->object.type_members, WILD);
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
	put(fake.state, fake.offsets->thread_id, (uint64_t)pthread_self() + 1, 8);
}

static void break_state_pointer(void)
{
	fake.thread_state = (void *)(uintptr_t)WILD;
}

static void break_frame_pointer(void)
{
	put_pointer(fake.holder, fake.offsets->chain.holder_frame, WILD);
	if (fake.offsets->chain.holder_frame == PYTHON_NONE)
		put_pointer(fake.state, fake.offsets->chain.state_frame, WILD);
}

static void break_code_pointer(void)
{
	put_pointer(fake.inner, fake.offsets->chain.code, WILD);
}

static void break_code_type(void)
{
	put_pointer(fake.outer_code, fake.offsets->object.type, PyBytes_Type);
}

static void break_previous(void)
{
	put_pointer(fake.outer, fake.offsets->chain.previous, WILD);
}

/* Run one try in a child; it must end by itself, with all as expected. */
static void in_child(const struct python_offsets *at, void (*breaks)(void), void (*attempt)(void))
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		test_failures = 0;
		make(at);
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
	put(PyCode_Type, fake.offsets->object.type_basicsize, fake.offsets->code.bytecode + 8u, 8);
}

static void break_instruction(void)
{
	put_pointer(fake.inner, fake.offsets->chain.instruction,
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
		in_child(at, make_runtime_state, walks_by_shortcut);
		in_child(at, move_key, walks_by_moved_key);
		in_child(at, break_initialized, walks_without_shortcut);
		in_child(at, break_interpreter, walks_without_shortcut);
		for (unsigned j = 0; j < sizeof(at_once) / sizeof(at_once[0]); j++)
			in_child(at, at_once[j], wrong_at_once);
		for (unsigned j = 0; j < sizeof(in_the_walk) / sizeof(in_the_walk[0]); j++)
			in_child(at, in_the_walk[j], wrong_in_the_walk);
		refuses_newer_breaks(at);
	}
	return test_result();
}
