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
 * and again as long as it is missing.  Any thread; no lock of ours; keeps errno.
 */
void *real_find(enum real_function function);

#endif
