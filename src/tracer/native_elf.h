/*
 * A loaded ELF object and its dynamic symbols, read from memory.  Nothing here
 * asks the loader, so it is safe inside dl_iterate_phdr() and under any lock.
 */
#ifndef GPULEAK_TRACER_NATIVE_ELF_H
#define GPULEAK_TRACER_NATIVE_ELF_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* Borrowed from the loader: good while the object stays loaded. */
struct native_object {
	uintptr_t base;		   /* where address 0 of the file lies */
	const ElfW(Sym) * symbols; /* NULL: none */
	const char *strings;
	const uint32_t *gnu_hash;  /* one of the two is there when symbols are */
	const uint32_t *sysv_hash; /* .. */
	const uint16_t *versions;  /* one per symbol, or NULL */
};

/* False when the object has no dynamic symbols that can be looked up. */
bool native_object_init(struct native_object *object, const struct dl_phdr_info *info);

/* How many dynamic symbols there are, counted from the hash table. */
uint32_t native_object_count(const struct native_object *object);

/* The default version of a symbol that this object itself defines, or NULL. */
const ElfW(Sym) * native_object_find(const struct native_object *object, const char *name);

/* Where a defined symbol lies; NULL for one that isn't at a fixed place (TLS, IFUNC). */
void *native_symbol_address(const struct native_object *object, const ElfW(Sym) * symbol);

/*
 * Where the first object in load order keeps `symbol`, whatever the scope it was
 * loaded into; NULL when none defines it.
 */
void *native_find_anywhere(const char *symbol);

#endif
