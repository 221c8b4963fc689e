/*
 * The loaded objects by address: a table that is kept until libraries come or go.
 */
#ifndef GPULEAK_TRACER_NATIVE_MODULES_H
#define GPULEAK_TRACER_NATIVE_MODULES_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "tracer/native_elf.h"

/* Function symbols of an object by address; made at the first question. */
struct native_symbol_index {
	struct native_symbol_entry *entries; /* owned; NULL: not made, or none */
	uint32_t count;
	bool made;
};

/* One loaded object.  Pointers are the loader's, good under its lock. */
struct native_module {
	uintptr_t start, end; /* all of it lies in between, and nothing else */
	uintptr_t base;	      /* where address 0 of the file lies */
	const char *name;     /* "" for the program */
	const ElfW(Phdr) * headers;
	unsigned header_count;
	struct native_object object; /* no symbols: object.symbols is NULL */
	struct native_symbol_index index;
};

/*
 * Call `use` with the module around `address`; false when there is none.  It runs
 * with the loader's list lock held: it may neither load nor wait.
 */
bool native_module_use(uintptr_t address, void (*use)(struct native_module *module, void *data),
		       void *data);

#endif
