#include "tracer/native_stack.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "tracer/hash.h"
#include "tracer/native_walk.h"

#define GPULEAK_LOOKS_UP
#include "tracer/banned.h"

/* Frames between libunwind and our caller: native_stack_walk() itself. */
enum {
	OWN_FRAMES = 1,
	SKIP_MAX = 32
};

/* Our own walk knows this machine's call frame information. */
#ifdef __x86_64__
#define HAVE_RULES 1
#else
#define HAVE_RULES 0
#endif

/*
 * libunwind's walk, for frames that our own doesn't understand; NULL without it.
 * Written in the constructor, then read-only.
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

	function = library ? dlsym(library, "unw_backtrace") : NULL;
	memcpy(&unwind, &function, sizeof(unwind));
	if (!function && !HAVE_RULES) {
		why = library ? "libunwind.so.8 has no unw_backtrace: no native stacks"
			      : "libunwind.so.8 isn't installed: no native stacks";
		return false;
	}
	why = NULL;
	return true;
}

#if HAVE_RULES
/* As native_stack_walk(), without libunwind; 0 when it can't. */
static inline unsigned walk_by_rules(const uintptr_t *own_frame, const void **addresses,
				     unsigned max)
{
	/* A function with a frame pointer: its caller's rbp, then where it returns to. */
	struct native_registers registers = {
		.bp = own_frame[0],
		.pc = own_frame[1],
		.sp = (uintptr_t)(own_frame + 2),
	};

	return native_walk(registers, addresses, max);
}
#else
static inline unsigned walk_by_rules(const uintptr_t *own_frame, const void **addresses,
				     unsigned max)
{
	(void)own_frame;
	(void)addresses;
	(void)max;
	return 0;
}
#endif

__attribute__((noinline)) unsigned native_stack_walk(const void **addresses, unsigned max,
						     unsigned skip)
{
	void *all[OWN_FRAMES + SKIP_MAX + NATIVE_STACK_MAX];
	int saved = errno;
	unsigned count;
	int found;

	if (skip == 0) {
		count = walk_by_rules(__builtin_frame_address(0), addresses, max);
		if (count > 0)
			return count;
	}
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
