#include "tracer/real.h"

#include <stdatomic.h>

#include "tracer/native_stack.h"

#include "tracer/banned.h"

static const struct real_name {
	const char *symbol;
	const char *object;
} names[REAL_COUNT] = {
#define H(symbol, object) {#symbol, object},
#include "tracer/hooks.def"
#undef H
};

/* Each written by whoever finds it first; all find the same. */
static _Atomic(void *) found[REAL_COUNT];

void *real_find(enum real_function function)
{
	void *real = atomic_load_explicit(&found[function], memory_order_relaxed);

	if (real)
		return real;
	real = native_find_export(names[function].object, names[function].symbol);
	atomic_store_explicit(&found[function], real, memory_order_relaxed);
	return real;
}
