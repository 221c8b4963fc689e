#include <stdatomic.h>
#include <string.h>

#include "tracer/python_runtime.h"
#include "tracer/python_stack.h"

#include "tracer/banned.h"

/* Set under the GIL by python_watch_code(), then read by every dealloc. */
static void (*_Atomic tell_died)(const void *code);
static void (*real_dealloc)(void *code);

/* In the place of code objects' tp_dealloc. */
static void watched_dealloc(void *code)
{
	void (*died)(const void *) = atomic_load_explicit(&tell_died, memory_order_acquire);

	died(code);
	real_dealloc(code);
}

bool python_watch_code(void (*died)(const void *code))
{
	void (*ours)(void *) = watched_dealloc;
	uint8_t *slot;

	if (python_detached_why())
		return false;
	slot = python_runtime.code_type + python_runtime.offsets->object.type_dealloc;
	if (real_dealloc)
		return atomic_load_explicit(&tell_died, memory_order_relaxed) == died;

	memcpy(&real_dealloc, slot, sizeof(real_dealloc));
	if (!real_dealloc)
		return false;
	atomic_store_explicit(&tell_died, died, memory_order_release);
	__atomic_store((void **)(void *)slot, (void **)(void *)&ours, __ATOMIC_RELEASE);
	return true;
}
