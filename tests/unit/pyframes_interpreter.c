#include "pyframes_interpreter.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

EXPORT const char *Py_GetVersion(void);
EXPORT int Py_IsFinalizing(void);
EXPORT int _Py_IsFinalizing(void);
EXPORT void *PyGILState_GetThisThreadState(void);
EXPORT void *PyInterpreterState_Main(void);

uint8_t PyCode_Type[512], PyType_Type[512], PyBytes_Type[512], _PyRuntime[4096];

struct interpreter fake;

const char *Py_GetVersion(void)
{
	return fake.version;
}

int Py_IsFinalizing(void)
{
	fake.finalizing_calls++;
	return fake.finalizing;
}

int _Py_IsFinalizing(void)
{
	fake.finalizing_calls++;
	return fake.finalizing;
}

void *PyGILState_GetThisThreadState(void)
{
	fake.state_calls++;
	return fake.thread_state;
}

void *PyInterpreterState_Main(void)
{
	return fake.main;
}

void interpreter_put(uint8_t *object, uint16_t offset, uint64_t value, size_t size)
{
	if (offset != PYTHON_NONE)
		memcpy(object + offset, &value, size);
}

void interpreter_put_pointer(uint8_t *object, uint16_t offset, const void *pointer)
{
	interpreter_put(object, offset, (uintptr_t)pointer, sizeof(pointer));
}

static void make_types(void)
{
	const struct python_offsets *at = fake.offsets;
	const struct python_code_offsets *code = &at->code;
	unsigned count = 0;

	interpreter_put_pointer(PyCode_Type, at->object.type, PyType_Type);
	interpreter_put_pointer(PyCode_Type, at->object.type_name, "code");
	interpreter_put(PyCode_Type, at->object.type_basicsize, code->bytecode, 8);
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
	interpreter_put_pointer(PyCode_Type, at->object.type_members, fake.members);
	interpreter_put(fake.str_type, at->object.type_flags, 1u << 28, 8);
}

static void put_word(unsigned word, uint64_t value)
{
	interpreter_put(_PyRuntime, (uint16_t)(8 * word), value, 8);
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

static void make_collector(void)
{
	enum {
		STATE = 600,
		COLLECTING = 104
	};
	const struct python_collector_offsets *at = &fake.offsets->collector;

	fake.collecting = (at->in_runtime ? _PyRuntime : fake.main) + STATE + COLLECTING;
	interpreter_put_pointer(fake.collecting, at->before_garbage, fake.garbage);
	interpreter_put_pointer(fake.collecting, at->before_garbage + 8, fake.callbacks);
	if (fake.offsets->minor < 13)
		return;
	put_word(at->state_word, STATE);
	put_word(at->collecting_word, COLLECTING);
}

static const uint8_t *make_str(unsigned i, const char *text)
{
	const struct python_object_offsets *at = &fake.offsets->object;
	uint8_t *str = fake.strings[i];

	interpreter_put_pointer(str, at->type, fake.str_type);
	interpreter_put(str, at->str_length, strlen(text), 8);
	interpreter_put(str, at->str_state, (1u | 1u << 3 | 1u << 4) << at->str_kind_shift, 4);
	memcpy(str + at->str_ascii, text, strlen(text));
	return str;
}

static void make_code(uint8_t *code, unsigned number, const char *file, const char *function)
{
	const struct python_offsets *at = fake.offsets;

	interpreter_put_pointer(code, at->object.type, PyCode_Type);
	interpreter_put(code, at->code.first_line, 10 * (number + 1), 4);
	interpreter_put_pointer(code, at->code.file, make_str(2 * number, file));
	interpreter_put_pointer(code, at->code.function, make_str(2 * number + 1, function));
	interpreter_put_pointer(code, at->code.qualname, fake.strings[2 * number + 1]);
	interpreter_put_pointer(code, at->code.lines, fake.lines);
	interpreter_put_pointer(code, at->code.copies, fake.copies);
	if (at->minor >= 11)
		interpreter_put(code, at->object.size, UNITS, 8);
	else
		interpreter_put_pointer(code, at->code.bytecode, fake.bytecode);
}

/* At byte 4 of its code, which the line table gives to the line after the first. */
static void make_frame(uint8_t *frame, const uint8_t *code, const uint8_t *previous)
{
	const struct python_offsets *at = fake.offsets;
	uintptr_t tag = at->minor >= 14;

	interpreter_put(frame, at->chain.code, (uintptr_t)code | tag, 8);
	interpreter_put_pointer(frame, at->chain.previous, previous);
	if (at->chain.instruction_is_int)
		interpreter_put(frame, at->chain.instruction, 4 / at->unit, 4);
	else
		interpreter_put_pointer(frame, at->chain.instruction, code + at->code.bytecode + 4);
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

	interpreter_put_pointer(fake.lines, at->object.type, PyBytes_Type);
	interpreter_put(fake.lines, at->object.size, size, 8);
	memcpy(fake.lines + at->object.bytes_data, bytes, size);
	interpreter_put(fake.bytecode, at->object.size, 2 * UNITS, 8);
}

void interpreter_make(const struct python_offsets *at)
{
	fake.offsets = at;
	snprintf(fake.version, sizeof(fake.version), "3.%u.1%s (main, today) [GCC]",
		 (unsigned)at->minor,
		 at->free_threaded ? " experimental free-threading build" : "");
	make_types();
	make_runtime();
	make_collector();
	make_lines();
	make_code(fake.inner_code, 0, "inner.py", "inner");
	make_code(fake.outer_code, 1, "outer.py", "outer");
	make_frame(fake.outer, fake.outer_code, NULL);
	make_frame(fake.shim, (const uint8_t *)0x4141414141414140, fake.outer);
	make_frame(fake.inner, fake.inner_code, at->chain.shims ? fake.shim : fake.outer);
	if (at->chain.shims)
		interpreter_put(fake.shim, at->chain.owner, 3, 1);

	if (at->chain.holder_frame != PYTHON_NONE)
		interpreter_put_pointer(fake.holder, at->chain.holder_frame, fake.inner);
	interpreter_put_pointer(fake.state, at->chain.state_frame,
				at->chain.holder_frame != PYTHON_NONE ? fake.holder : fake.inner);
	interpreter_put(fake.state, at->thread_id, (uint64_t)pthread_self(), 8);
	fake.thread_state = fake.state;
}

/* What a running interpreter has in _PyRuntime beside the offsets. */
void interpreter_start(void)
{
	const struct python_runtime_offsets *at = &fake.offsets->runtime;
	static const uint8_t interpreter;
	pthread_key_t key;

	for (uint16_t i = 4; i < 16; i += 4)
		interpreter_put(_PyRuntime, at->initializing + i, 1, 4);
	interpreter_put_pointer(_PyRuntime, at->finalizing + 16, &interpreter);
	interpreter_put_pointer(_PyRuntime, at->finalizing + 24, &interpreter);
	interpreter_put_pointer(fake.state, 16, &interpreter);
	pthread_key_create(&key, NULL);
	pthread_setspecific(key, fake.state);
	interpreter_put(_PyRuntime, at->key, 1, 4);
	interpreter_put(_PyRuntime, at->key == PYTHON_NONE ? PYTHON_NONE : at->key + 4, key, 4);
}
