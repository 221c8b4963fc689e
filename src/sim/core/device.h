#ifndef SIM_CORE_DEVICE_H
#define SIM_CORE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/core/api.h"

/* How many devices the program sees. */
SIM_EXPORT int gpusim_device_count(void);

/* The physical number behind an ordinal; -1: no such device. */
SIM_EXPORT int gpusim_device_physical(int ordinal);

/* Capacity and use of a device by this process, in bytes. */
SIM_EXPORT void gpusim_device_memory(int ordinal, uint64_t *total, uint64_t *used);

/* Charge a device for physical memory: GPUSIM_OUT_OF_MEMORY past its capacity. */
SIM_EXPORT int gpusim_device_charge(int ordinal, uint64_t bytes);
SIM_EXPORT void gpusim_device_refund(int ordinal, uint64_t bytes);

/* Memory with an address of its own, as from cudaMalloc.  `size` 0 gives a NULL pointer. */
SIM_EXPORT int gpusim_memory_take(int ordinal, size_t size, void **pointer);
SIM_EXPORT int gpusim_memory_give(void *pointer);

/* Addresses alone, charged to nobody: an opened IPC handle, a pool's block. */
SIM_EXPORT int gpusim_address_take(int ordinal, size_t size, void **pointer);
SIM_EXPORT bool gpusim_address_give(void *pointer, uint64_t *size);

/* The device that `pointer` belongs to; -1: none, it's host memory. */
SIM_EXPORT int gpusim_device_of(const void *pointer);

/* The allocation around `pointer`. */
SIM_EXPORT bool gpusim_memory_find(const void *pointer, void **start, size_t *size);

#endif
