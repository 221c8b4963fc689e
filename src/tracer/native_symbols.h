/* Function symbols of a loaded object, sorted by address. */
#ifndef GPULEAK_TRACER_NATIVE_SYMBOLS_H
#define GPULEAK_TRACER_NATIVE_SYMBOLS_H

#include <stdint.h>

#include "tracer/native_modules.h"

struct native_symbol_entry {
	uint32_t start;	 /* in the file's own terms */
	uint32_t symbol; /* number in the dynamic symbol table */
};

/* The symbol that covers `address` (in the file's own terms), or NULL. */
const ElfW(Sym) * native_symbols_find(struct native_module *module, uint64_t address);

void native_symbols_release(struct native_symbol_index *index);

#endif
