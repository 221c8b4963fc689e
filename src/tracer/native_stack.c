#include "tracer/native_stack.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "tracer/hash.h"

#define GPULEAK_LOOKS_UP
#include "tracer/banned.h"

/* Frames between libunwind and our caller: native_stack_walk() itself. */
enum {
	OWN_FRAMES = 1,
	SKIP_MAX = 32
};

/*
 * libunwind's walk with a cache per thread.  Written in the constructor, then
 * read-only.
 */
static int (*unwind)(void **addresses, int size);
static const char *why = "native stacks weren't asked for";

const char *native_stack_why(void)
{
	return why;
}

bool native_stack_open(void)
{
	/*
	 * Not linked and not global: its _Unwind_* and backtrace() would take over
	 * those of the whole process.  LLVM's libunwind.so.1 is another library.
	 */
	void *library = dlopen("libunwind.so.8", RTLD_LOCAL | RTLD_NOW);
	void *function;

	if (!library) {
		why = "libunwind.so.8 isn't installed: no native stacks";
		return false;
	}
	function = dlsym(library, "unw_backtrace");
	if (!function) {
		why = "libunwind.so.8 has no unw_backtrace: no native stacks";
		return false;
	}
	memcpy(&unwind, &function, sizeof(unwind));
	why = NULL;
	return true;
}

__attribute__((noinline)) unsigned native_stack_walk(const void **addresses, unsigned max,
						     unsigned skip)
{
	void *all[OWN_FRAMES + SKIP_MAX + NATIVE_STACK_MAX];
	int saved = errno;
	unsigned count;
	int found;

	if (!unwind)
		return 0;
	skip = OWN_FRAMES + (skip < SKIP_MAX ? skip : SKIP_MAX);
	max = max < NATIVE_STACK_MAX ? max : NATIVE_STACK_MAX;
	found = unwind(all, (int)(skip + max));
	errno = saved;
	if (found <= (int)skip)
		return 0;
	count = (unsigned)found - skip;
	memcpy(addresses, all + skip, count * sizeof(*addresses));
	return count;
}

uint64_t native_stack_hash(const void *const *addresses, unsigned count)
{
	uint64_t factor = 0x9e3779b97f4a7c15u;
	uint64_t sum = 0;

	/* As in the Python walk: each place times its own odd number. */
	for (unsigned i = 0; i < count; i++) {
		sum += (uintptr_t)addresses[i] * factor;
		factor *= 0xd1342543de82ef95u;
	}
	return hash_mix(sum, count);
}
