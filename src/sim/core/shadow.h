#ifndef SIM_CORE_SHADOW_H
#define SIM_CORE_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/core/api.h"

/*
 * What the host itself has put into device memory lately.
 *
 * Device memory has no contents.  A read gives what the host wrote there, as long as no kernel can
 * have changed it, and zeros otherwise.  So every host write of at most 64 KiB is remembered until
 * a kernel is given a pointer into it, until 256 kernels have run, until something else is written
 * over it, or until it is freed.  Bounded: the oldest go first.
 */

/* These take the core's lock. */
SIM_EXPORT void gpusim_shadow_write(uint64_t address, const void *bytes, size_t size);
SIM_EXPORT void gpusim_shadow_fill(uint64_t address, int value, size_t size);
SIM_EXPORT void gpusim_shadow_move(uint64_t to, uint64_t from, size_t size);
/* Fill `bytes` with what is known, else with zeros. */
SIM_EXPORT void gpusim_shadow_read(uint64_t address, void *bytes, size_t size);
/* A kernel runs with these words as its arguments, some of which are pointers. */
SIM_EXPORT void gpusim_shadow_kernel(const uint64_t *words, size_t count);
/* A kernel runs of which nothing is known. */
SIM_EXPORT void gpusim_shadow_forget(void);

/* The caller holds the core's lock. */
void gpusim_shadow_drop(uint64_t address, uint64_t size);

#endif
