#ifndef SIM_CORE_HOST_H
#define SIM_CORE_HOST_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/core/api.h"

/* Host memory that CUDA knows: pinned, registered, managed.  Any thread. */
enum gpusim_host_kind {
	GPUSIM_HOST_NONE = 0, /* not ours */
	GPUSIM_HOST_PINNED = 1,
	GPUSIM_HOST_REGISTERED = 2,
	GPUSIM_HOST_MANAGED = 3,
};

SIM_EXPORT int gpusim_host_take(size_t size, enum gpusim_host_kind kind, void **pointer);
SIM_EXPORT int gpusim_host_give(void *pointer);
SIM_EXPORT int gpusim_host_register(void *pointer, size_t size);
SIM_EXPORT int gpusim_host_unregister(void *pointer);
SIM_EXPORT enum gpusim_host_kind gpusim_host_kind_of(const void *pointer);

#endif
