/*
 * The loader: a library goes, and another one may come where it was.  What the tracer knows
 * by addresses of code is looked at anew from then on.
 *
 * Never called within PyTorch's allocator: whoever unloads takes the loader's lock.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "tracer/native_loader.h"
#include "tracer/real.h"

#define GPULEAK_LOOKS_UP
#include "tracer/banned.h"

#define EXPORT __attribute__((visibility("default")))

/*
 * The next one, which may be another preloaded library's: sanitizers have one.  In glibc
 * before 2.34 it is libdl's.
 */
static void *find_next(void)
{
	static _Atomic(void *) found;
	void *next = atomic_load_explicit(&found, memory_order_relaxed);

	if (next)
		return next;
	next = dlsym(RTLD_NEXT, "dlclose");
	if (!next)
		next = real_find(REAL_dlclose);
	atomic_store_explicit(&found, next, memory_order_relaxed);
	return next;
}

EXPORT int dlclose(void *handle)
{
	void *next = find_next();
	int (*real)(void *);
	int result;

	memcpy(&real, &next, sizeof(real));
	if (!real)
		return -1;
	result = real(handle);
	native_loader_look();
	return result;
}
