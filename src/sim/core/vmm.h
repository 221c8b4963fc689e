#ifndef SIM_CORE_VMM_H
#define SIM_CORE_VMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/core/api.h"

/*
 * Virtual memory management, as cuMem* does it: reserved addresses, physical blocks, and which is
 * mapped where.  A physical block lives until it is released and mapped nowhere.  Any thread.
 */
SIM_EXPORT int gpusim_vmm_reserve(size_t size, uint64_t *address);
SIM_EXPORT int gpusim_vmm_unreserve(uint64_t address, size_t size);
SIM_EXPORT int gpusim_vmm_create(int ordinal, size_t size, uint64_t *handle);
SIM_EXPORT int gpusim_vmm_release(uint64_t handle);
SIM_EXPORT int gpusim_vmm_map(uint64_t address, size_t size, uint64_t handle);
SIM_EXPORT int gpusim_vmm_unmap(uint64_t address, size_t size);
/* One more reference to the block mapped at `address`. */
SIM_EXPORT int gpusim_vmm_retain(uint64_t address, uint64_t *handle);
SIM_EXPORT int gpusim_vmm_device_of_handle(uint64_t handle);

/* The device of what is mapped at `address`, or of device 0 where nothing is; -1: not reserved. */
int gpusim_vmm_device_of(uint64_t address);
bool gpusim_vmm_find(uint64_t address, void **start, size_t *size);

#endif
