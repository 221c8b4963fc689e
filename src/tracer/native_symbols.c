#include "tracer/native_symbols.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "tracer/memory.h"

#include "tracer/banned.h"

/* Symbols looked at below an address: small ones may lie inside a big one. */
enum {
	STEPS_BACK = 8
};

static bool is_function(const ElfW(Sym) * symbol)
{
	return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
	       symbol->st_value && symbol->st_value <= UINT32_MAX;
}

/* One pass of a radix sort, by the byte at `shift`.  Keeps the order of equals. */
static void sort_by_byte(const struct native_symbol_entry *from, struct native_symbol_entry *to,
			 uint32_t count, unsigned shift)
{
	uint32_t place[256] = {0};
	uint32_t sum = 0;

	for (uint32_t i = 0; i < count; i++)
		place[from[i].start >> shift & 255]++;
	for (unsigned byte = 0; byte < 256; byte++) {
		uint32_t here = place[byte];

		place[byte] = sum;
		sum += here;
	}
	for (uint32_t i = 0; i < count; i++)
		to[place[from[i].start >> shift & 255]++] = from[i];
}

/* qsort() takes heap memory; four passes are also quicker. */
static bool sort_entries(struct native_symbol_entry *entries, uint32_t count)
{
	size_t size = count * sizeof(*entries);
	struct native_symbol_entry *other = memory_take(size);

	if (!other)
		return false;
	sort_by_byte(entries, other, count, 0);
	sort_by_byte(other, entries, count, 8);
	sort_by_byte(entries, other, count, 16);
	sort_by_byte(other, entries, count, 24);
	memory_give(other, size);
	return true;
}

/* A big library's 100,000 symbols take some milliseconds, once. */
static void make_index(struct native_module *module)
{
	const ElfW(Sym) *symbols = module->object.symbols;
	struct native_symbol_index *index = &module->index;
	uint32_t total = symbols ? native_object_count(&module->object) : 0;
	uint32_t functions = 0;

	index->made = true;
	for (uint32_t i = 1; i < total; i++)
		functions += is_function(&symbols[i]);
	if (!functions)
		return;
	index->entries = memory_take(functions * sizeof(*index->entries));
	if (!index->entries)
		return;
	index->count = functions;
	for (uint32_t i = 1, next = 0; i < total; i++) {
		if (is_function(&symbols[i]))
			index->entries[next++] = (struct native_symbol_entry){
				.start = (uint32_t)symbols[i].st_value,
				.symbol = i,
			};
	}
	if (!sort_entries(index->entries, index->count)) {
		native_symbols_release(index);
		index->made = true;
	}
}

void native_symbols_release(struct native_symbol_index *index)
{
	if (index->entries)
		memory_give(index->entries, index->count * sizeof(*index->entries));
	*index = (struct native_symbol_index){0};
}

/* The first entry that begins above `address`. */
static uint32_t entry_above(const struct native_symbol_index *index, uint64_t address)
{
	uint32_t low = 0, high = index->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (index->entries[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const ElfW(Sym) * native_symbols_find(struct native_module *module, uint64_t address)
{
	uint32_t above;

	if (!module->index.made)
		make_index(module);
	above = entry_above(&module->index, address);
	for (uint32_t i = above; i > 0 && above - i < STEPS_BACK; i--) {
		const struct native_symbol_entry *entry = &module->index.entries[i - 1];
		const ElfW(Sym) *symbol = &module->object.symbols[entry->symbol];

		if (address - symbol->st_value < symbol->st_size)
			return symbol;
	}
	return NULL;
}
