#include "tracer/native_elf.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "tracer/native_loader.h"

#include "tracer/banned.h"

/* glibc writes absolute addresses into the dynamic section, but not into the vdso's. */
static const void *dynamic_address(uintptr_t base, const ElfW(Dyn) * entry)
{
	uintptr_t address = entry->d_un.d_ptr;

	return (const void *)(address < base ? base + address : address);
}

static const ElfW(Dyn) * dynamic_section(const struct dl_phdr_info *info)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			return (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	}
	return NULL;
}

bool native_object_init(struct native_object *object, const struct dl_phdr_info *info)
{
	uintptr_t base = info->dlpi_addr;
	const ElfW(Dyn) *entry = dynamic_section(info);

	*object = (struct native_object){.base = base};
	for (; entry && entry->d_tag != DT_NULL; entry++) {
		switch (entry->d_tag) {
		case DT_SYMTAB:
			object->symbols = dynamic_address(base, entry);
			break;
		case DT_STRTAB:
			object->strings = dynamic_address(base, entry);
			break;
		case DT_GNU_HASH:
			object->gnu_hash = dynamic_address(base, entry);
			break;
		case DT_HASH:
			object->sysv_hash = dynamic_address(base, entry);
			break;
		case DT_VERSYM:
			object->versions = dynamic_address(base, entry);
			break;
		default:
			break;
		}
	}
	return object->symbols && object->strings && (object->gnu_hash || object->sysv_hash);
}

/* The parts of DT_GNU_HASH. */
struct gnu_hash {
	uint32_t buckets, first_symbol, bloom_words, bloom_shift;
	const ElfW(Addr) * bloom;
	const uint32_t *bucket;
	const uint32_t *chain; /* of symbol first_symbol and up; the low bit ends a chain */
};

static struct gnu_hash gnu_hash_parts(const uint32_t *table)
{
	struct gnu_hash parts = {
		.buckets = table[0],
		.first_symbol = table[1],
		.bloom_words = table[2],
		.bloom_shift = table[3],
		.bloom = (const ElfW(Addr) *)(table + 4),
	};

	parts.bucket = (const uint32_t *)(parts.bloom + parts.bloom_words);
	parts.chain = parts.bucket + parts.buckets;
	return parts;
}

uint32_t native_object_count(const struct native_object *object)
{
	struct gnu_hash hash;
	uint32_t last = 0;

	if (!object->gnu_hash)
		return object->sysv_hash ? object->sysv_hash[1] : 0;

	hash = gnu_hash_parts(object->gnu_hash);
	for (uint32_t i = 0; i < hash.buckets; i++) {
		if (hash.bucket[i] > last)
			last = hash.bucket[i];
	}
	if (last < hash.first_symbol)
		return hash.first_symbol;
	while (!(hash.chain[last - hash.first_symbol] & 1))
		last++;
	return last + 1;
}

/* Defined here, called `name`, and the version a plain reference would get. */
static bool is_default(const struct native_object *object, uint32_t index, const char *name)
{
	const ElfW(Sym) *symbol = &object->symbols[index];

	if (symbol->st_shndx == SHN_UNDEF || strcmp(object->strings + symbol->st_name, name) != 0)
		return false;
	return !object->versions || !(object->versions[index] & 0x8000);
}

static const ElfW(Sym) * find_by_gnu_hash(const struct native_object *object, const char *name)
{
	struct gnu_hash hash = gnu_hash_parts(object->gnu_hash);
	const unsigned bits = 8 * sizeof(ElfW(Addr));
	uint32_t wanted = 5381;
	ElfW(Addr) word;
	uint32_t index;

	for (const char *c = name; *c; c++)
		wanted = wanted * 33 + (uint8_t)*c;
	if (!hash.buckets || !hash.bloom_words)
		return NULL;

	word = hash.bloom[wanted / bits % hash.bloom_words];
	word = word >> wanted % bits & word >> (wanted >> hash.bloom_shift) % bits;
	index = hash.bucket[wanted % hash.buckets];
	if (!(word & 1) || index < hash.first_symbol)
		return NULL;

	for (;; index++) {
		uint32_t link = hash.chain[index - hash.first_symbol];

		if ((link | 1) == (wanted | 1) && is_default(object, index, name))
			return &object->symbols[index];
		if (link & 1)
			return NULL;
	}
}

const ElfW(Sym) * native_object_find(const struct native_object *object, const char *name)
{
	if (object->gnu_hash)
		return find_by_gnu_hash(object, name);
	for (uint32_t i = 1; i < native_object_count(object); i++) {
		if (is_default(object, i, name))
			return &object->symbols[i];
	}
	return NULL;
}

void *native_symbol_address(const struct native_object *object, const ElfW(Sym) * symbol)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info); /* the same in 32-bit files */

	if (type == STT_TLS || type == STT_GNU_IFUNC)
		return NULL;
	return (void *)(object->base + symbol->st_value);
}

struct anywhere {
	const char *symbol;
	void *address;
};

static int look_anywhere(struct dl_phdr_info *info, size_t size, void *data)
{
	struct anywhere *search = data;
	struct native_object object;
	const ElfW(Sym) * symbol;

	(void)size;
	if (!native_object_init(&object, info))
		return 0;
	symbol = native_object_find(&object, search->symbol);
	if (symbol)
		search->address = native_symbol_address(&object, symbol);
	return search->address != NULL;
}

void *native_find_anywhere(const char *symbol)
{
	struct anywhere search = {.symbol = symbol};

	native_loader_walk(look_anywhere, &search);
	return search.address;
}
