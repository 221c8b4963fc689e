#include "tracer/native_stack.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "tracer/native_walk.h"

#define GPULEAK_LOOKS_UP
#include "tracer/banned.h"

/* Frames between libunwind and our caller's: native_stack_walk(), and what it calls. */
enum {
	OWN_FRAMES = 2
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
/* Without libunwind; false when it can't. */
static inline bool walk_by_rules(const uintptr_t *own_frame, struct native_trail *trail)
{
	/* A function with a frame pointer: its caller's rbp, then where it returns to. */
	struct native_registers registers = {
		.bp = own_frame[0],
		.pc = own_frame[1],
		.sp = (uintptr_t)(own_frame + 2),
	};

	return native_walk(registers, trail);
}
#else
static inline bool walk_by_rules(const uintptr_t *own_frame, struct native_trail *trail)
{
	(void)own_frame;
	(void)trail;
	return false;
}
#endif

__attribute__((cold, noinline)) static void walk_by_libunwind(struct native_trail *trail,
							      const void *caller)
{
	void *all[OWN_FRAMES + NATIVE_STACK_MAX];
	int saved = errno;
	int found = unwind ? unwind(all, OWN_FRAMES + NATIVE_STACK_MAX) : 0;
	int own = 0;

	errno = saved;
	while (own < found && all[own] != caller)
		own++;
	native_trail_set(trail, all + own, (unsigned)(found - own));
}

__attribute__((noinline)) unsigned native_stack_walk(struct native_trail *trail)
{
	if (!walk_by_rules(__builtin_frame_address(0), trail))
		walk_by_libunwind(trail, __builtin_return_address(0));
	return trail->count;
}
