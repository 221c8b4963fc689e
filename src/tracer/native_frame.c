#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "tracer/native_elf.h"
#include "tracer/native_loader.h"
#include "tracer/native_modules.h"
#include "tracer/native_stack.h"
#include "tracer/native_symbols.h"

#include "tracer/banned.h"

static void copy_text(char *to, size_t size, const char *from)
{
	size_t length = strnlen(from, size - 1);

	memcpy(to, from, length);
	to[length] = '\0';
}

/* The program's own path, looked at once: a system call for each of its frames is slow. */
static const char *program_path(void)
{
	static char
		path[sizeof(((struct native_frame *)NULL)->module)]; /* within the walk's lock */
	int saved = errno;
	ssize_t length;

	if (!path[0]) {
		length = readlink("/proc/self/exe", path, sizeof(path) - 1);
		path[length > 0 ? length : 0] = '\0';
		errno = saved;
	}
	return path;
}

/* The loader has no name for the program itself. */
static void copy_module_name(const struct native_module *module, char *name, size_t size)
{
	copy_text(name, size, module->name[0] ? module->name : program_path());
}

static size_t aligned(size_t size, size_t alignment)
{
	return (size + alignment - 1) & ~(alignment - 1);
}

/* Look for a build id among the notes in [at, end). */
static bool find_build_id(const uint8_t *at, const uint8_t *end, size_t alignment,
			  struct native_frame *frame)
{
	ElfW(Nhdr) note;

	while ((size_t)(end - at) >= sizeof(note)) {
		size_t left = (size_t)(end - at);
		size_t content, next;

		memcpy(&note, at, sizeof(note));
		content = aligned(sizeof(note) + note.n_namesz, alignment);
		next = aligned(content + note.n_descsz, alignment);
		if (content > left || note.n_descsz > left - content)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(at + sizeof(note), "GNU", 4) == 0) {
			frame->build_id_size = note.n_descsz < sizeof(frame->build_id)
						       ? note.n_descsz
						       : sizeof(frame->build_id);
			memcpy(frame->build_id, at + content, frame->build_id_size);
			return true;
		}
		at += next < left ? next : left;
	}
	return false;
}

static void copy_build_id(const struct native_module *module, struct native_frame *frame)
{
	for (unsigned i = 0; i < module->header_count; i++) {
		const ElfW(Phdr) *header = &module->headers[i];
		uintptr_t start = module->base + header->p_vaddr;

		if (header->p_type != PT_NOTE || start < module->start || start > module->end ||
		    header->p_memsz > module->end - start)
			continue;
		if (find_build_id((const uint8_t *)start, (const uint8_t *)start + header->p_memsz,
				  header->p_align == 8 ? 8 : 4, frame))
			return;
	}
}

struct resolve {
	uintptr_t address;
	struct native_frame *frame;
};

static void resolve_in(struct native_module *module, void *data)
{
	struct resolve *resolve = data;

	resolve->frame->offset = resolve->address - module->base;
	copy_module_name(module, resolve->frame->module, sizeof(resolve->frame->module));
	copy_build_id(module, resolve->frame);
}

bool native_frame_resolve(const void *address, struct native_frame *frame)
{
	struct resolve resolve = {.address = (uintptr_t)address, .frame = frame};

	frame->module[0] = '\0';
	frame->offset = 0;
	frame->build_id_size = 0;
	return native_module_use((uintptr_t)address - 1, resolve_in, &resolve);
}

struct naming {
	uintptr_t address;
	char *name;
	size_t size;
	uint64_t offset;
	bool found;
};

static void name_in(struct native_module *module, void *data)
{
	struct naming *naming = data;
	uint64_t address = naming->address - module->base;
	const ElfW(Sym) *symbol = native_symbols_find(module, address - 1);

	if (!symbol)
		return;
	copy_text(naming->name, naming->size, module->object.strings + symbol->st_name);
	naming->offset = address - symbol->st_value;
	naming->found = true;
}

bool native_symbol(const void *address, char *name, size_t size, uint64_t *symbol_offset)
{
	struct naming naming = {.address = (uintptr_t)address, .name = name, .size = size};

	name[0] = '\0';
	native_module_use((uintptr_t)address - 1, name_in, &naming);
	*symbol_offset = naming.offset;
	return naming.found;
}

struct export_search {
	const char *prefix, *symbol;
	void *address;
};

static int look_for_export(struct dl_phdr_info *info, size_t size, void *data)
{
	struct export_search *search = data;
	const char *path = info->dlpi_name ? info->dlpi_name : "";
	const char *slash = strrchr(path, '/');
	const char *file = slash ? slash + 1 : path;
	struct native_object object;
	const ElfW(Sym) * symbol;

	(void)size;
	if (strncmp(file, search->prefix, strlen(search->prefix)) != 0 ||
	    !native_object_init(&object, info))
		return 0;
	symbol = native_object_find(&object, search->symbol);
	if (symbol)
		search->address = native_symbol_address(&object, symbol);
	return search->address != NULL;
}

void *native_find_export(const char *prefix, const char *symbol)
{
	struct export_search search = {.prefix = prefix, .symbol = symbol};

	native_loader_walk(look_for_export, &search);
	return search.address;
}
