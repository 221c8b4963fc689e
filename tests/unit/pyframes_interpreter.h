/*
 * A made-up interpreter, laid out as one row of the offset table says: one thread
 * with three frames, found by the names that a real one exports.
 */
#ifndef GPULEAK_TESTS_PYFRAMES_INTERPRETER_H
#define GPULEAK_TESTS_PYFRAMES_INTERPRETER_H

#include <stddef.h>
#include <stdint.h>

#include "tracer/python_offsets.h"

#define EXPORT __attribute__((visibility("default")))
#define OBJECT EXPORT uint8_t __attribute__((aligned(16)))

/* What the walk looks up by name. */
extern OBJECT PyCode_Type[512], PyType_Type[512], PyBytes_Type[512], _PyRuntime[4096];

enum {
	UNITS = 100 /* of bytecode in each code object */
};

/* The rest of the interpreter: one thread, three frames, two code objects. */
struct interpreter {
	const struct python_offsets *offsets;
	char version[64];
	int finalizing;
	unsigned long state_calls, finalizing_calls; /* of Python's functions */
	void *thread_state;
	uint8_t main[1024] __attribute__((aligned(16)));
	uint8_t *collecting; /* of the garbage collector, in `main` or in _PyRuntime */
	uint8_t garbage[16], callbacks[16]; /* stand for gc's lists */
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
};

extern struct interpreter fake;

/* Make all of it; once in a process. */
void interpreter_make(const struct python_offsets *at);

/* Add what only a running one has in _PyRuntime: the shortcut's marks. */
void interpreter_start(void);

/* Write a field; PYTHON_NONE is no field. */
void interpreter_put(uint8_t *object, uint16_t offset, uint64_t value, size_t size);
void interpreter_put_pointer(uint8_t *object, uint16_t offset, const void *pointer);

#endif
