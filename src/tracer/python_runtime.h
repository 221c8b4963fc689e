/* The interpreter found in this process, for the walk and for resolving frames. */
#ifndef GPULEAK_TRACER_PYTHON_RUNTIME_H
#define GPULEAK_TRACER_PYTHON_RUNTIME_H

#include <string.h>

#include "tracer/python_offsets.h"

/*
 * Written by python_attach() before the walk is switched on, then read-only, but
 * for the two shortcuts below.  Pointers into the interpreter, which stays loaded.
 */
struct python_runtime {
	const struct python_offsets *offsets;
	uint8_t *code_type; /* PyCode_Type */
	const uint8_t *bytes_type;
	const uint8_t *state; /* _PyRuntime, or NULL */
	void *(*this_thread_state)(void);
	int (*is_finalizing)(void);
};

extern struct python_runtime python_runtime __attribute__((visibility("hidden")));

/* Give up on Python for good: `why` is text that stays. */
void python_detach(const char *why);

static inline const uint8_t *python_pointer(const uint8_t *object, uint16_t offset)
{
	const uint8_t *pointer;

	memcpy(&pointer, object + offset, sizeof(pointer));
	return pointer;
}

static inline int32_t python_int(const uint8_t *object, uint16_t offset)
{
	int32_t value;

	memcpy(&value, object + offset, sizeof(value));
	return value;
}

static inline uint64_t python_word(const uint8_t *object, uint16_t offset)
{
	uint64_t value;

	memcpy(&value, object + offset, sizeof(value));
	return value;
}

#endif
