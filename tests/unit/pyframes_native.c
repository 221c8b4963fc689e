/* Native stacks: walked through known functions, named and placed, without heap. */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tracer/native_elf.h"
#include "tracer/native_stack.h"

#include "test.h"

#define EXPORT __attribute__((visibility("default")))

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
enum {
	RACES_WATCHED = 1
};
#define SANITIZED 1
#else
enum {
	RACES_WATCHED = 0
};
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define SANITIZED 1
#endif

static atomic_ulong heap_calls;

/* A sanitizer has a heap of its own. */
#ifndef SANITIZED
/* Exported, or the libraries would go on using libc's and this test could not fail. */

EXPORT void *malloc(size_t size)
{
	extern void *__libc_malloc(size_t);

	heap_calls++;
	return __libc_malloc(size);
}

EXPORT void *calloc(size_t items, size_t size)
{
	extern void *__libc_calloc(size_t, size_t);

	heap_calls++;
	return __libc_calloc(items, size);
}
#endif

static struct native_stack stack;
static unsigned count;

/* From the caller outwards. */
__attribute__((noinline)) static unsigned take(struct native_stack *taken)
{
	native_stack_walk(__builtin_frame_address(0), taken);
	__asm__ volatile("");
	return taken->count;
}

EXPORT unsigned pyframes_inner(void);
EXPORT unsigned pyframes_middle(void);
EXPORT unsigned pyframes_outer(unsigned depth);

__attribute__((noinline)) unsigned pyframes_inner(void)
{
	errno = 1234;
	count = take(&stack);
	EXPECT_U64(errno, 1234);
	__asm__ volatile("");
	return count;
}

__attribute__((noinline)) unsigned pyframes_middle(void)
{
	unsigned found = pyframes_inner();

	__asm__ volatile("");
	return found;
}

/* Recurses, so that stacks of any depth can be had. */
__attribute__((noinline)) unsigned pyframes_outer(unsigned depth)
{
	unsigned found = depth ? pyframes_outer(depth - 1) : pyframes_middle();

	__asm__ volatile("");
	return found;
}

static const char *name_of(const void *address)
{
	static char name[256];
	uint64_t offset;

	return native_symbol(address, name, sizeof(name), &offset) ? name : "none";
}

static const void *address(unsigned i)
{
	return (const void *)stack.addresses[i];
}

static void walks_known_functions(void)
{
	struct native_stack again;
	unsigned shallow;

	pyframes_outer(0);
	EXPECT(count >= 4);
	EXPECT_STR(name_of(address(0)), "pyframes_inner");
	EXPECT_STR(name_of(address(1)), "pyframes_middle");
	EXPECT_STR(name_of(address(2)), "pyframes_outer");

	shallow = count;
	pyframes_outer(10);
	EXPECT_U64(count, shallow + 10);
	pyframes_outer(1000);
	EXPECT_U64(count, NATIVE_STACK_MAX);

	pyframes_outer(0);
	EXPECT_U64(take(&again), shallow - 3);
	EXPECT_U64(again.addresses[1], stack.addresses[4]);
}

static int compare_and_walk(const void *a, const void *b)
{
	(void)a;
	(void)b;
	pyframes_inner();
	return 0;
}

/* Through code that was compiled by others. */
static void walks_through_libc(void)
{
	int two[2] = {2, 1};
	unsigned in_libc = 0;
	struct native_frame frame;

	qsort(two, 2, sizeof(int), compare_and_walk);
	for (unsigned i = 0; i < count; i++) {
		EXPECT(native_frame_resolve(address(i), &frame));
		in_libc += strstr(frame.module, "/libc.so.6") != NULL;
	}
	EXPECT(in_libc >= 2); /* the sort, and what called main() */
	EXPECT_STR(name_of(address(0)), "pyframes_inner");
}

static uint64_t hash_of(uintptr_t first, uintptr_t second, unsigned number)
{
	struct native_stack made = {.count = number, .addresses = {first, second}};

	return native_stack_hash(&made);
}

static void hashes_in_order(void)
{
	const uintptr_t one = 0x1000, other = 0x2000;

	EXPECT(hash_of(one, other, 2) != hash_of(other, one, 2));
	EXPECT(hash_of(one, other, 2) != hash_of(one, other, 1));
	EXPECT(hash_of(0, 0, 2) != hash_of(0, 0, 1));
	EXPECT_U64(hash_of(one, other, 2), hash_of(one, other, 2));
}

/* The line of /proc/self/maps around `address`: which file, and where in it. */
static bool in_maps(uintptr_t address, char *path, uint64_t *offset)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start, end, from;
	char line[4096];
	bool found = false;

	while (!found && fgets(line, sizeof(line), maps)) {
		path[0] = '\0';
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %4095[^\n]", &start, &end, &from, path) <
		    3)
			continue;
		found = address >= start && address < end;
		*offset = address - start + from;
	}
	fclose(maps);
	return found;
}

/* Where the byte at `address` of an ELF file's own terms is in the file. */
static uint64_t in_file(const char *path, uint64_t address)
{
	ElfW(Ehdr) head;
	ElfW(Phdr) part;
	uint64_t offset = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	EXPECT(pread(fd, &head, sizeof(head), 0) == (ssize_t)sizeof(head));
	for (unsigned i = 0; i < head.e_phnum; i++) {
		EXPECT(pread(fd, &part, sizeof(part), (off_t)(head.e_phoff + i * sizeof(part))) ==
		       (ssize_t)sizeof(part));
		if (part.p_type == PT_LOAD && address - part.p_vaddr < part.p_filesz)
			offset = address - part.p_vaddr + part.p_offset;
	}
	close(fd);
	return offset;
}

static void places_match_maps(void)
{
	struct native_frame frame;
	uint64_t offset;

	pyframes_outer(0);
	EXPECT(count >= 5); /* main() and libc among them */
	for (unsigned i = 0; i < count; i++) {
		char mapped[4096], *real;

		EXPECT(native_frame_resolve(address(i), &frame));
		EXPECT(in_maps((uintptr_t)address(i), mapped, &offset));
		real = realpath(frame.module, NULL);
		EXPECT_STR(real, mapped);
		EXPECT_U64(in_file(mapped, frame.offset), offset);
		EXPECT_U64(frame.build_id_size, 20);
		free(real);
	}
	EXPECT(!native_frame_resolve(&offset, &frame));
	EXPECT(!native_frame_resolve(NULL, &frame));
	EXPECT_STR(frame.module, "");
}

/* The build id is also what the file says, read by another way. */
static void build_id_is_the_files(void)
{
	static uint8_t file[1 << 16];
	struct native_frame frame;
	int fd;

	EXPECT(native_frame_resolve((const uint8_t *)dlsym(RTLD_DEFAULT, "getpid") + 1, &frame));
	fd = open(frame.module, O_RDONLY | O_CLOEXEC);
	EXPECT(read(fd, file, sizeof(file)) > 0);
	close(fd);
	EXPECT(memmem(file, sizeof(file), frame.build_id, 20) != NULL);
	EXPECT(memcmp(frame.build_id, (uint8_t[20]){0}, 20) != 0);
}

static int name_functions_of_libc(struct dl_phdr_info *info, size_t size, void *data)
{
	struct native_object object;
	unsigned *checked = data;

	(void)size;
	if (!strstr(info->dlpi_name, "libc.so") || !native_object_init(&object, info))
		return 0;
	for (uint32_t i = 1; i < native_object_count(&object); i++) {
		const ElfW(Sym) *symbol = &object.symbols[i];
		const uint8_t *start = native_symbol_address(&object, symbol);
		const char *first;
		Dl_info theirs;
		uint64_t offset;
		char name[256];

		if (!start || symbol->st_shndx == SHN_UNDEF || symbol->st_size < 2 ||
		    ELF64_ST_TYPE(symbol->st_info) != STT_FUNC)
			continue;
		first = (const char *)start;
		EXPECT(native_symbol(first + 2, name, sizeof(name), &offset));
		EXPECT(dladdr(first + 1, &theirs) != 0);
		EXPECT(first + 2 - offset == theirs.dli_saddr);
		++*checked;
	}
	return 1;
}

/* Every exported function of libc, by our index and by the loader's own answer. */
static void names_match_loader(void)
{
	unsigned checked = 0;

	dl_iterate_phdr(name_functions_of_libc, &checked);
	EXPECT(checked > 1000);
}

static void cuts_long_names(void)
{
	uint64_t offset;
	char name[8];

	pyframes_inner();
	EXPECT(native_symbol(address(0), name, sizeof(name), &offset));
	EXPECT_STR(name, "pyframe");
}

static unsigned walk_from_library(void)
{
	unsigned found = pyframes_inner();

	__asm__ volatile("");
	return found;
}

static void finds_exports(const char *library)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	unsigned (*function)(unsigned (*)(void)) = NULL;
	struct native_frame frame;
	void *export, *inside;

	EXPECT(handle != NULL);
	EXPECT(native_find_export("libc.so", "getpid") == dlsym(RTLD_DEFAULT, "getpid"));
	EXPECT(native_find_export("libc.so", "no_such_function") == NULL);
	EXPECT(native_find_export("libnothing", "getpid") == NULL);
	EXPECT(native_find_export("libc.so", "errno") == NULL); /* not at a fixed place */
#ifndef SANITIZED
	/* Two versions: the one that a new program would get. */
	EXPECT(native_find_export("libc.so", "pthread_cond_wait") ==
	       dlsym(RTLD_DEFAULT, "pthread_cond_wait"));
#endif

	EXPECT(dlsym(RTLD_DEFAULT, "pyframes_only_here") == NULL);
	export = native_find_export("libpyframes_lib", "pyframes_only_here");
	EXPECT(export != NULL);
	EXPECT(export == dlsym(handle, "pyframes_only_here"));
	if (!export)
		return;

	memcpy(&function, &export, sizeof(export));
	function(walk_from_library);
	EXPECT_STR(name_of(address(2)), "pyframes_only_here");
	inside = (void *)(uintptr_t)address(2);
	EXPECT(native_frame_resolve(inside, &frame));
	EXPECT(strstr(frame.module, "libpyframes_library.so") != NULL);

	dlclose(handle);
	EXPECT(native_find_export("libpyframes_lib", "pyframes_only_here") == NULL);
	EXPECT(!native_frame_resolve(inside, &frame));
	EXPECT_STR(name_of(inside), "none");
}

static void stays_out_of_scope(void)
{
	EXPECT(dlsym(RTLD_DEFAULT, "unw_backtrace") == NULL);
	EXPECT(dlsym(RTLD_DEFAULT, "unw_getcontext") == NULL);
}

static void everything(void)
{
	struct native_frame frame;

	pyframes_outer(20);
	for (unsigned i = 0; i < count; i++) {
		native_frame_resolve(address(i), &frame);
		name_of(address(i));
	}
	native_find_export("libc.so", "getpid");
}

static void takes_no_heap(void)
{
	unsigned long before = heap_calls;
	void *volatile seen = malloc(1);

	free(seen);
#ifndef SANITIZED
	EXPECT_U64(heap_calls, before + 1); /* the watch works */
#endif
	everything();

	before = heap_calls;
	everything();
	EXPECT_U64(heap_calls, before);
}

static atomic_bool done;

static void *resolve_until_done(void *unused)
{
	struct native_stack own = stack;
	struct native_frame frame;
	char name[64];
	uint64_t offset;
	unsigned found = count;

	/* TSan's thread is gone before libunwind takes its leave of the thread. */
	while (!done) {
		if (!RACES_WATCHED)
			found = take(&own);
		EXPECT(found > 0);
		for (unsigned i = 0; i < found; i++) {
			EXPECT(native_frame_resolve((const void *)own.addresses[i], &frame));
			native_symbol((const void *)own.addresses[i], name, sizeof(name), &offset);
		}
	}
	return unused;
}

/* Libraries come and go while threads name their stacks. */
static void survives_dlclose(const char *library)
{
	pthread_t threads[3];

	pyframes_outer(3);
	for (unsigned i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, resolve_until_done, NULL);
	for (unsigned i = 0; i < 300; i++) {
		void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);

		EXPECT(native_find_export("libpyframes_lib", "pyframes_only_here") != NULL);
		dlclose(handle);
	}
	done = true;
	for (unsigned i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

int main(void)
{
	if (!native_stack_open()) {
		fprintf(stderr, "%s\n", native_stack_why());
		return TEST_SKIP;
	}
	EXPECT(native_stack_why() == NULL);

	walks_known_functions();
	walks_through_libc();
	hashes_in_order();
	places_match_maps();
	build_id_is_the_files();
	names_match_loader();
	cuts_long_names();
	finds_exports(PYFRAMES_LIBRARY);
	stays_out_of_scope();
	takes_no_heap();
	survives_dlclose(PYFRAMES_LIBRARY);
	return test_result();
}
