#include "tracer/real.h"

#include <stdatomic.h>

#include "tracer/hot.h"
#include "tracer/native_loader.h"
#include "tracer/native_stack.h"

static const struct real_name {
	const char *symbol;
	const char *object;
} names[REAL_COUNT] = {
#define H(symbol, object) {#symbol, object},
#include "tracer/hooks.def"
#undef H
};

#include "tracer/banned.h" /* of what we stand in front of some is */

/* Each written by whoever finds it first; all find the same. */
HOT_DATA static _Atomic(void *) found[REAL_COUNT];

/* What the loader had unloaded by then; stored after `found`, loaded before it. */
static _Atomic(unsigned long long) found_after[REAL_COUNT];

__attribute__((cold, noinline)) static void *look_up(enum real_function function)
{
	void *real = native_find_export(names[function].object, names[function].symbol);

	atomic_store_explicit(&found[function], real, memory_order_relaxed);
	return real;
}

HOT_CODE void *real_find(enum real_function function)
{
	void *real = atomic_load_explicit(&found[function], memory_order_relaxed);

	return real ? real : look_up(function);
}

void *real_find_often(enum real_function function)
{
	unsigned long long unloads = native_loader_unloads();

	if (atomic_load_explicit(&found_after[function], memory_order_acquire) != unloads) {
		look_up(function);
		atomic_store_explicit(&found_after[function], unloads, memory_order_release);
	}
	return real_find(function);
}

void *real_find_loaded(enum real_function function)
{
	native_loader_look();
	return real_find_often(function);
}
