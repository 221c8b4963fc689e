#ifndef SIM_CORE_COPY_H
#define SIM_CORE_COPY_H

#include <stddef.h>

#include "sim/core/api.h"

/* Copy between host and device memory in any direction, which the addresses tell. */
SIM_EXPORT void gpusim_copy(void *to, const void *from, size_t size);
SIM_EXPORT void gpusim_copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch,
				 size_t width, size_t height);
SIM_EXPORT void gpusim_fill(void *to, int value, size_t size);

/*
 * Kernel `function` runs: `arguments[i]` points to its i-th argument, somewhere on the caller's
 * stack. Either may be NULL: unknown.
 */
SIM_EXPORT void gpusim_kernel(const void *function, void *const *arguments);

#endif
