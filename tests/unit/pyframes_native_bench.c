/*
 * What native stacks cost, in ns and us: pyframes_native_bench [LIBRARY]
 *
 * Walks of known depth, and names for addresses all over a library: the first
 * name sorts its symbols, the others look them up.
 */
#include <dlfcn.h>
#include <link.h>
#include <time.h>

#include "tracer/native_elf.h"
#include "tracer/native_stack.h"

#include "test.h"

static struct native_memo memo;
static volatile uint64_t sink;

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void time_walk(unsigned depth)
{
	enum {
		ROUNDS = 20000
	};
	double best = 1e18;
	struct native_stack stack;

	native_stack_walk(__builtin_frame_address(0), &stack);
	for (unsigned turn = 0; turn < 10; turn++) {
		double start = now_ns();

		for (unsigned i = 0; i < ROUNDS; i++) {
			sink += native_stack_recognise(__builtin_frame_address(0), &memo);
		}
		start = (now_ns() - start) / ROUNDS;
		best = start < best ? start : best;
	}
	printf("%3u calls deep, %3u frames: %6.1f ns, %4.1f a frame\n", depth, stack.count, best,
	       best / stack.count);
}

__attribute__((noinline)) static void deeper(unsigned depth, unsigned wanted)
{
	if (depth < wanted)
		deeper(depth + 1, wanted);
	else
		time_walk(wanted);
	__asm__ volatile("");
}

/* The program headers of one library. */
struct wanted {
	const char *path;
	uintptr_t start, size;
	uint32_t symbols;
};

static int find_library(struct dl_phdr_info *info, size_t size, void *data)
{
	struct wanted *wanted = data;
	struct native_object object;

	(void)size;
	if (strcmp(info->dlpi_name, wanted->path) != 0)
		return 0;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];

		if (header->p_type == PT_LOAD && header->p_flags & PF_X) {
			wanted->start = info->dlpi_addr + header->p_vaddr;
			wanted->size = header->p_memsz;
		}
	}
	if (native_object_init(&object, info))
		wanted->symbols = native_object_count(&object);
	return 1;
}

static void time_names(const char *path)
{
	enum {
		NAMES = 4000
	};
	struct wanted wanted = {.path = path};
	struct native_frame frame;
	unsigned named = 0;
	uint64_t offset;
	char name[256];
	double start;

	dl_iterate_phdr(find_library, &wanted);
	if (!wanted.size)
		return;
	native_frame_resolve((const void *)wanted.start, &frame);
	start = now_ns();
	native_symbol((const void *)(wanted.start + wanted.size / 2), name, sizeof(name), &offset);
	printf("%u symbols, first name: %.1f us\n", wanted.symbols, (now_ns() - start) / 1000);

	start = now_ns();
	for (unsigned i = 1; i < NAMES; i++)
		named += native_symbol((const void *)(wanted.start + wanted.size / NAMES * i), name,
				       sizeof(name), &offset);
	printf("others: %.2f us each, %u of %u have one\n", (now_ns() - start) / NAMES / 1000,
	       named, (unsigned)NAMES - 1);
	start = now_ns();
	for (unsigned i = 1; i < NAMES; i++)
		native_frame_resolve((const void *)(wanted.start + wanted.size / NAMES * i),
				     &frame);
	printf("places: %.2f us each\n", (now_ns() - start) / NAMES / 1000);
	start = now_ns();
	sink += (uintptr_t)native_find_export("libc.so", "getpid");
	printf("an export: %.1f us\n", (now_ns() - start) / 1000);
}

int main(int argc, char **argv)
{
	double start = now_ns();

	if (!native_stack_open()) {
		puts(native_stack_why());
		return TEST_SKIP;
	}
	printf("opening libunwind: %.1f us\n", (now_ns() - start) / 1000);
	start = now_ns();
	native_stack_recognise(__builtin_frame_address(0), &memo);
	printf("a thread's first walk: %.1f us\n", (now_ns() - start) / 1000);
	deeper(0, 0);
	deeper(0, 15);
	deeper(0, 55);
	if (argc > 1 && !dlopen(argv[1], RTLD_NOW))
		puts(dlerror());
	else if (argc > 1)
		time_names(argv[1]);
	return TEST_PASS;
}
