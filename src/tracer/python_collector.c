#include "tracer/python_collector.h"

#include <string.h>

#include "tracer/hot.h"
#include "tracer/native_elf.h"
#include "tracer/python_probe.h"
#include "tracer/python_stack.h"

#include "tracer/banned.h"

enum {
	PIECE = 2048,	   /* bytes looked at together */
	REACH = 8 * PIECE, /* no version has it further in: 3.13 has it at 7,600 */
};

HOT_DATA const int *python_collecting_at;

/* What the collector's state is a part of, or NULL. */
static const uint8_t *owner(const struct python_offsets *offsets)
{
	void *(*main_interpreter)(void);
	void *symbol = native_find_anywhere("PyInterpreterState_Main");

	if (offsets->collector.in_runtime)
		return python_runtime.state;
	memcpy(&main_interpreter, &symbol, sizeof(symbol));
	return symbol ? main_interpreter() : NULL;
}

/* Where the two pointers stand side by side in the memory from `start` on, or NULL. */
static const uint8_t *find_pair(const uint8_t *start, const void *garbage, const void *callbacks)
{
	const uint8_t *found = NULL;
	const void *words[PIECE / 8 + 1]; /* the last one is the next piece's first */

	for (const uint8_t *piece = start; piece < start + REACH; piece += PIECE) {
		if (!python_probe(piece, words, sizeof(words)))
			break;
		for (unsigned i = 0; i < PIECE / 8; i++) {
			if (words[i] != garbage || words[i + 1] != callbacks)
				continue;
			if (found)
				return NULL;
			found = piece + 8ull * i;
		}
	}
	return found;
}

/* 3.13 and later say themselves where it is. */
static bool agrees(const struct python_offsets *offsets, const uint8_t *start,
		   const uint8_t *collecting)
{
	const uint8_t *runtime = python_runtime.state;

	if (offsets->minor < 13)
		return true;
	return collecting == start + python_word(runtime, 8 * offsets->collector.state_word) +
				     python_word(runtime, 8 * offsets->collector.collecting_word);
}

bool python_collector_find(const void *garbage, const void *callbacks)
{
	const struct python_offsets *offsets = python_runtime.offsets;
	const uint8_t *start, *pair, *collecting;

	if (python_collecting_at || python_detached_why())
		return python_collecting_at != NULL;
	start = owner(offsets);
	pair = start && garbage && callbacks ? find_pair(start, garbage, callbacks) : NULL;
	if (!pair)
		return false;
	collecting = pair - offsets->collector.before_garbage;
	if (!agrees(offsets, start, collecting) || (python_int(collecting, 0) & ~1))
		return false;
	__atomic_store_n(&python_collecting_at, (const int *)(const void *)collecting,
			 __ATOMIC_RELAXED);
	return true;
}
