#include "tracer/native_modules.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "tracer/memory.h"
#include "tracer/native_loader.h"
#include "tracer/native_symbols.h"

#include "tracer/banned.h"

/*
 * All modules by address.  Only touched inside native_loader_walk(), whose lock
 * keeps us apart.
 */
static struct {
	struct native_module *modules; /* owned, sorted by start */
	unsigned count, capacity;
	unsigned long long adds, subs; /* the loader's counters that it holds for */
} table;

/* The value of `adds` for which the table got all modules. */
static _Atomic unsigned long long whole;

/* The first module that begins above `address`. */
static unsigned position_above(uintptr_t address)
{
	unsigned low = 0, high = table.count;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (table.modules[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct native_module *module_around(uintptr_t address)
{
	unsigned above = position_above(address);

	if (above == 0 || address >= table.modules[above - 1].end)
		return NULL;
	return &table.modules[above - 1];
}

static bool make_room(void)
{
	unsigned capacity = table.capacity ? 2 * table.capacity : 256;
	struct native_module *modules;

	if (table.count < table.capacity)
		return true;
	modules = memory_take(capacity * sizeof(*modules));
	if (!modules)
		return false;
	if (table.count)
		memcpy(modules, table.modules, table.count * sizeof(*modules));
	if (table.modules)
		memory_give(table.modules, table.capacity * sizeof(*modules));
	table.modules = modules;
	table.capacity = capacity;
	return true;
}

/* The span of the segments: the loader reserves it whole, so nothing else is in it. */
static void span_of(const struct dl_phdr_info *info, struct native_module *module)
{
	module->start = UINTPTR_MAX;
	module->end = 0;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + header->p_vaddr;

		if (header->p_type != PT_LOAD)
			continue;
		if (start < module->start)
			module->start = start;
		if (start + header->p_memsz > module->end)
			module->end = start + header->p_memsz;
	}
}

/* False when there is no memory. */
static bool add_module(const struct dl_phdr_info *info)
{
	struct native_module module = {
		.base = info->dlpi_addr,
		.name = info->dlpi_name ? info->dlpi_name : "",
		.headers = info->dlpi_phdr,
		.header_count = info->dlpi_phnum,
	};
	unsigned at;

	span_of(info, &module);
	if (module.start >= module.end || module_around(module.start))
		return true;
	if (!make_room())
		return false;
	if (!native_object_init(&module.object, info))
		module.object.symbols = NULL;

	at = position_above(module.start);
	memmove(&table.modules[at + 1], &table.modules[at],
		(table.count - at) * sizeof(table.modules[0]));
	table.modules[at] = module;
	table.count++;
	return true;
}

/* Something was unloaded, and another thing may lie in its place. */
static void forget_modules(void)
{
	for (unsigned i = 0; i < table.count; i++)
		native_symbols_release(&table.modules[i].index);
	table.count = 0;
}

struct look_up {
	uintptr_t address;
	void (*use)(struct native_module *module, void *data);
	void *data;
	bool fresh, found;
};

static void look_up_in_table(struct look_up *look_up)
{
	struct native_module *module = module_around(look_up->address);

	look_up->found = module != NULL;
	if (module)
		look_up->use(module, look_up->data);
}

struct update {
	struct look_up *look_up; /* done on the way: another library may come before a next walk */
	bool begun, failed;
	unsigned long long adds;
};

static int update_module(struct dl_phdr_info *info, size_t size, void *data)
{
	struct update *update = data;

	(void)size;
	if (!update->begun) {
		update->begun = true;
		update->adds = info->dlpi_adds;
		if (table.subs != info->dlpi_subs)
			forget_modules();
		table.adds = info->dlpi_adds;
		table.subs = info->dlpi_subs;
	}
	update->failed = !add_module(info);
	if (!update->look_up->found)
		look_up_in_table(update->look_up);
	return update->failed;
}

/* Ends at the first module: that one carries the counters. */
static int look_up_module(struct dl_phdr_info *info, size_t size, void *data)
{
	struct look_up *look_up = data;

	(void)size;
	look_up->fresh = table.adds == info->dlpi_adds && table.subs == info->dlpi_subs &&
			 atomic_load_explicit(&whole, memory_order_relaxed) == table.adds;
	if (look_up->fresh)
		look_up_in_table(look_up);
	return 1;
}

bool native_module_use(uintptr_t address, void (*use)(struct native_module *module, void *data),
		       void *data)
{
	struct look_up look_up = {.address = address, .use = use, .data = data};
	struct update update = {.look_up = &look_up};

	native_loader_walk(look_up_module, &look_up);
	if (look_up.fresh)
		return look_up.found;
	native_loader_walk(update_module, &update);
	if (!update.failed)
		atomic_store_explicit(&whole, update.adds, memory_order_relaxed);
	return look_up.found;
}
