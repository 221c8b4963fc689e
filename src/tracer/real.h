/*
 * The functions behind ours, found by dl_iterate_phdr and the libraries' own symbol
 * tables: dlsym would take the loader's lock under PyTorch's device mutex, and
 * RTLD_NEXT does not see what Python loaded with RTLD_LOCAL.
 */
#ifndef GPULEAK_TRACER_REAL_H
#define GPULEAK_TRACER_REAL_H

#include <stddef.h>

enum real_function {
#define H(symbol, object) REAL_##symbol,
#include "tracer/hooks.def"
#undef H
	REAL_COUNT,
};

/*
 * The function, or NULL while no loaded object has it.  Looked up at the first call
 * and again as long as it is missing.  For libraries that stay once they are loaded.
 * Any thread; takes loader_lock; keeps errno.
 */
void *real_find(enum real_function function);

/*
 * The same for a library that may be unloaded and come back elsewhere: hwloc and
 * others load libcudart with a plug-in of theirs, and unload it with that.  Costs a
 * look at the loader's counters each time.
 */
void *real_find_loaded(enum real_function function);

/* The same without that look, for what is called often: dlclose() is told of, see hook_loader.c. */
void *real_find_often(enum real_function function);

#endif
