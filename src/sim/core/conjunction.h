#ifndef SIM_CORE_CONJUNCTION_H
#define SIM_CORE_CONJUNCTION_H

#include <stdbool.h>

#include "sim/core/api.h"

/*
 * Kernels whose result is "all of them": all(), logical and bitwise "and", the product of booleans
 * that isfinite() is made of.
 *
 * Programs check with them (`assert torch.isfinite(loss)`, PyTorch's own checks of arguments) and
 * wait with them (`while not done.all()`).  So a boolean that such a kernel has made reads as true;
 * every other one reads as false, like the zeros it is.
 */

/* Note a kernel by its mangled name.  Any thread. */
SIM_EXPORT void gpusim_conjunction_register(const void *function, const char *name);
bool gpusim_conjunction_is(const void *function);

#endif
