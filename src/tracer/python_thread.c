#include "tracer/python_thread.h"

#include "tracer/hot.h"

#include "tracer/banned.h"

HOT_DATA struct python_shortcut python_shortcut;

/* Bytes around the expected place in which a release may have moved a field. */
enum {
	NEARBY = 64
};

/* In all versions so far the thread state's second or third field. */
enum {
	STATE_INTERPRETER = 16
};

/*
 * The finalizing pointer stands between four ints, of which the last three are 1
 * by now, and the interpreters, of which we know the one.
 */
static const uint8_t *find_finalizing(const uint8_t *runtime, const uint8_t *state,
				      const struct python_runtime_offsets *at)
{
	const uint8_t *interpreter = python_pointer(state, STATE_INTERPRETER);

	for (uint16_t i = 4; i < 16; i += 4) {
		if (python_int(runtime, (uint16_t)(at->initializing + i)) != 1)
			return NULL;
	}
	if (python_word(runtime, at->finalizing) != 0)
		return NULL;
	for (uint16_t i = 8; i <= 32; i += 8) {
		const uint8_t *head = python_pointer(runtime, (uint16_t)(at->finalizing + i));
		const uint8_t *main = python_pointer(runtime, (uint16_t)(at->finalizing + i + 8));

		if (head == interpreter && main == interpreter)
			return runtime + at->finalizing;
	}
	return NULL;
}

/* A key that was made and leads to this thread's state. */
static bool is_key(const uint8_t *at, const uint8_t *state)
{
	return python_int(at, 0) == 1 &&
	       pthread_getspecific((pthread_key_t)python_int(at, 4)) == state;
}

/* At the expected place, or else at the only place near it. */
static const uint8_t *find_key(const uint8_t *runtime, const uint8_t *state,
			       const struct python_runtime_offsets *at)
{
	const uint8_t *expected = runtime + at->key;
	const uint8_t *found = NULL;

	if (is_key(expected, state))
		return expected;
	for (const uint8_t *i = expected - NEARBY; i <= expected + NEARBY; i += 4) {
		if (!is_key(i, state))
			continue;
		if (found)
			return NULL;
		found = i;
	}
	return found;
}

void python_thread_shorten(const uint8_t *state)
{
	const struct python_runtime_offsets *at = &python_runtime.offsets->runtime;
	const uint8_t *runtime = python_runtime.state;
	struct python_shortcut shortcut = {.get_specific = pthread_getspecific};

	if (!runtime)
		return;
	shortcut.finalizing = find_finalizing(runtime, state, at);
	if (shortcut.finalizing && at->key != PYTHON_NONE)
		shortcut.key = find_key(runtime, state, at);
	python_shortcut = shortcut;
}
