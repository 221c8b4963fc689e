#include "tracer/python_runtime.h"

#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "tracer/native_elf.h"
#include "tracer/native_loader.h"
#include "tracer/python_probe.h"
#include "tracer/python_stack.h"
#include "tracer/python_walk.h"

#include "tracer/banned.h"

struct python_runtime python_runtime;

/* Static text or unknown_version; NULL once attached. */
static const char *_Atomic detached_why = "no Python in this process";
static char unknown_version[64];

/* Written by python_attach() alone. */
static bool decided;
static uint64_t libraries_seen; /* dlpi_adds at the last look */

const char *python_detached_why(void)
{
	return atomic_load_explicit(&detached_why, memory_order_acquire);
}

void python_detach(const char *why)
{
	python_walk_end();
	atomic_store_explicit(&detached_why, why, memory_order_release);
}

/* Libraries ever loaded, from the first entry of the loader's list. */
static int read_adds(struct dl_phdr_info *info, size_t size, void *data)
{
	uint64_t *adds = data;

	(void)size;
	*adds = info->dlpi_adds;
	return 1;
}

/* The text begins "3.N." and names the build further on. */
static const struct python_offsets *offsets_of(const char *version)
{
	bool free_threaded = strstr(version, "free-threading") != NULL;
	const struct python_offsets *offsets = NULL;

	if (strncmp(version, "3.", 2) == 0)
		offsets = python_offsets_find((unsigned)atoi(version + 2), free_threaded);
	if (!offsets)
		snprintf(unknown_version, sizeof(unknown_version),
			 "unknown Python %.*s%s: no Python stacks", (int)strcspn(version, " "),
			 version, free_threaded ? " (free-threaded)" : "");
	return offsets;
}

/*
 * The type of code objects says where their fields are.  It is a static object,
 * so its own fields are where the version says, or this isn't that version.
 */
static bool member_is(const uint8_t *type, const struct python_object_offsets *at,
		      const char *wanted, uint16_t offset)
{
	enum {
		ENTRY = 40,
		OFFSET = 16,
		ENTRIES_MAX = 64
	};
	const uint8_t *members = python_pointer(type, at->type_members);
	uint8_t entry[ENTRY];
	char name[32];

	for (unsigned i = 0; i < ENTRIES_MAX; i++) {
		if (!python_probe(members + (size_t)i * ENTRY, entry, sizeof(entry)))
			return false;
		if (!python_pointer(entry, 0))
			return false;
		if (!python_probe(python_pointer(entry, 0), name, strlen(wanted) + 1))
			continue;
		if (memcmp(name, wanted, strlen(wanted) + 1) == 0)
			return python_word(entry, OFFSET) == offset;
	}
	return false;
}

static bool code_type_fits(const struct python_offsets *offsets, const uint8_t *type,
			   const uint8_t *type_type)
{
	const struct python_object_offsets *at = &offsets->object;
	const struct python_code_offsets *code = &offsets->code;
	const char *lines = offsets->minor < 10 ? "co_lnotab" : "co_linetable";
	char name[5];

	if (python_pointer(type, at->type) != type_type ||
	    !python_probe(python_pointer(type, at->type_name), name, sizeof(name)) ||
	    memcmp(name, "code", sizeof(name)) != 0)
		return false;
	if (offsets->minor >= 11 && python_word(type, at->type_basicsize) != code->bytecode)
		return false;
	if (code->qualname != PYTHON_NONE && !member_is(type, at, "co_qualname", code->qualname))
		return false;
	return member_is(type, at, "co_firstlineno", code->first_line) &&
	       member_is(type, at, "co_filename", code->file) &&
	       member_is(type, at, "co_name", code->function) &&
	       member_is(type, at, lines, code->lines);
}

/* 3.13 and later begin _PyRuntime with a table of offsets, for debuggers. */
static bool debug_offsets_fit(const struct python_offsets *offsets, const uint8_t *state)
{
	const struct python_debug_words *word = &offsets->words;
	const struct python_chain *chain = &offsets->chain;
	const struct python_code_offsets *code = &offsets->code;
	const struct python_object_offsets *object = &offsets->object;
	const struct {
		uint8_t word;
		uint16_t expected;
	} checks[] = {
		{word->state_frame, chain->state_frame},
		{word->thread_id, offsets->thread_id},
		{word->previous, chain->previous},
		{word->code, chain->code},
		{word->instruction, chain->instruction},
		{word->owner, chain->owner},
		{word->file, code->file},
		{word->function, code->function},
		{word->qualname, code->qualname},
		{word->lines, code->lines},
		{word->first_line, code->first_line},
		{word->bytecode, code->bytecode},
		{word->type, object->type},
		{word->size, object->size},
		{word->bytes_data, object->bytes_data},
		{word->str_state, object->str_state},
		{word->str_length, object->str_length},
		{word->str_ascii, object->str_ascii},
		{word->finalizing, offsets->runtime.finalizing},
	};

	if (!state || memcmp(state, "xdebugpy", 8) != 0)
		return false;
	if (python_word(state, 8) >> 16 != (0x0300u | offsets->minor) ||
	    (python_word(state, 16) != 0) != offsets->free_threaded)
		return false;
	if (chain->copy_index != PYTHON_NONE &&
	    (python_word(state, 8 * word->copy_index) != chain->copy_index ||
	     python_word(state, 8 * word->copies) != code->copies))
		return false;
	for (unsigned i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		if (python_word(state, 8 * checks[i].word) != checks[i].expected)
			return false;
	}
	return true;
}

/* A function found by name, as the type it has. */
#define FIND(pointer, symbol)                                  \
	do {                                                   \
		void *address = native_find_anywhere(symbol);  \
                                                               \
		memcpy(&(pointer), &address, sizeof(address)); \
	} while (0)

/* Fill python_runtime.  Returns why it can't be used, or NULL. */
static const char *attach(const char *version)
{
	struct python_runtime *found = &python_runtime;
	const uint8_t *type_type;

	found->offsets = offsets_of(version);
	if (!found->offsets)
		return unknown_version;

	FIND(found->is_finalizing,
	     found->offsets->minor >= 13 ? "Py_IsFinalizing" : "_Py_IsFinalizing");
	FIND(found->this_thread_state, "PyGILState_GetThisThreadState");
	FIND(found->code_type, "PyCode_Type");
	FIND(found->bytes_type, "PyBytes_Type");
	FIND(found->state, "_PyRuntime");
	FIND(type_type, "PyType_Type");
	if (!found->is_finalizing || !found->this_thread_state || !found->code_type ||
	    !found->bytes_type || !type_type)
		return "this Python hides its functions: no Python stacks";

	if (!code_type_fits(found->offsets, found->code_type, type_type))
		return "this Python's code objects are laid out in another way: no Python stacks";
	if (found->offsets->minor >= 13 && !debug_offsets_fit(found->offsets, found->state))
		return "this Python's frames are laid out in another way: no Python stacks";
	return NULL;
}

bool python_attach(void)
{
	const char *(*get_version)(void);
	int saved = errno;
	uint64_t adds = 0;
	const char *why;

	if (decided)
		return python_detached_why() == NULL;

	native_loader_walk(read_adds, &adds);
	if (adds == libraries_seen)
		return false;
	libraries_seen = adds;

	FIND(get_version, "Py_GetVersion");
	if (get_version) {
		decided = true;
		why = attach(get_version());
		atomic_store_explicit(&detached_why, why, memory_order_release);
		if (!why)
			python_walk_begin();
	}
	errno = saved;
	return decided && python_detached_why() == NULL;
}
