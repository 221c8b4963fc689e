#include "tracer/native_stack.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "tracer/hot.h"
#include "tracer/native_memo.h"
#include "tracer/native_walk.h"

#define GPULEAK_LOOKS_UP
#include "tracer/banned.h"

/* Of our own, between libunwind and the function that is walked from. */
enum {
	OWN_FRAMES = 32
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

__attribute__((cold, noinline)) static void walk_by_libunwind(const uintptr_t *frame,
							      struct native_stack *stack)
{
	void *all[OWN_FRAMES + NATIVE_STACK_MAX];
	int saved = errno;
	int found = unwind ? unwind(all, OWN_FRAMES + NATIVE_STACK_MAX) : 0;
	int own = 0;

	errno = saved;
	while (own < found && (uintptr_t)all[own] != frame[1])
		own++;
	stack->count = 0;
	for (int i = own; i < found && stack->count < NATIVE_STACK_MAX; i++)
		stack->addresses[stack->count++] = (uintptr_t)all[i];
}

/* False when it is no walk that the same words would decide again. */
static bool walk(const uintptr_t *frame, struct native_stack *stack, struct native_reads *reads)
{
	if (HAVE_RULES && native_walk(frame, stack, reads))
		return true;
	walk_by_libunwind(frame, stack);
	return false;
}

void native_stack_walk(const uintptr_t *frame, struct native_stack *stack)
{
	struct native_reads reads;

	walk(frame, stack, &reads);
}

__attribute__((noinline)) static uint64_t meet(const uintptr_t *frame, struct native_memo *memo)
{
	struct native_stack stack;
	struct native_reads reads;
	bool decided = walk(frame, &stack, &reads);
	uint64_t hash = native_stack_hash(&stack);

	if (decided)
		native_memo_keep(memo, frame, &reads, hash);
	return hash;
}

__attribute__((noinline)) HOT_CODE uint64_t native_stack_recognise(const uintptr_t *frame,
								   struct native_memo *memo)
{
	uint64_t hash;

	return native_memo_find(memo, frame, &hash) ? hash : meet(frame, memo);
}
