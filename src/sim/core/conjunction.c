#include "sim/core/conjunction.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
	SLOTS = 16384,
	MOST = SLOTS / 2
};

/* A hash table that only grows, so that it can be read without a lock.  Beyond MOST none is noted.
 */
static _Atomic(const void *) slots[SLOTS];
static atomic_uint slot_count;

static unsigned slot_of(const void *function)
{
	return (unsigned)(((uint64_t)function >> 4) * 0x9e3779b97f4a7c15u >> 50) % SLOTS;
}

/* As GCC and nvcc mangle them: `b` is bool. */
static bool is_conjunction(const char *name)
{
	static const char *const parts[] = {"and_kernel_cuda", "MulFunctorIb",
					    "BitwiseAndFunctorIb"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(name, parts[i]))
			return true;
	return false;
}

void gpusim_conjunction_register(const void *function, const char *name)
{
	const void *empty;

	if (!name || !is_conjunction(name) || atomic_fetch_add(&slot_count, 1) >= MOST)
		return;
	for (unsigned at = slot_of(function);; at = (at + 1) % SLOTS) {
		empty = NULL;
		if (atomic_compare_exchange_strong(&slots[at], &empty, function) ||
		    empty == function)
			return;
	}
}

bool gpusim_conjunction_is(const void *function)
{
	const void *found;

	for (unsigned at = slot_of(function);; at = (at + 1) % SLOTS) {
		found = atomic_load_explicit(&slots[at], memory_order_relaxed);
		if (found == function)
			return true;
		if (!found)
			return false;
	}
}
