/* Capacity: plain memory, pools, virtual memory management, two devices. */
#include <stdlib.h>

#include "sim/core/config.h"
#include "sim/core/device.h"
#include "sim/core/host.h"
#include "sim/core/pool.h"
#include "sim/core/vmm.h"
#include "test.h"

static const uint64_t MIB = 1 << 20;

static uint64_t used(int device)
{
	uint64_t total, bytes;

	gpusim_device_memory(device, &total, &bytes);
	return bytes;
}

static void plain(void)
{
	void *first, *second, *start;
	uint64_t total, bytes;
	size_t size;

	gpusim_device_memory(0, &total, &bytes);
	EXPECT_U64(total, 64 * MIB);
	EXPECT_U64(gpusim_memory_take(0, 62 * MIB, &first), 0);
	EXPECT_U64(gpusim_memory_take(0, 3 * MIB, &second), GPUSIM_OUT_OF_MEMORY);
	EXPECT(!second);
	EXPECT_U64(gpusim_memory_take(1, 3 * MIB, &second), 0);
	EXPECT_U64(used(0), 62 * MIB);
	EXPECT_U64(used(1), 4 * MIB);
	EXPECT_U64(gpusim_device_of(first), 0);
	EXPECT_U64(gpusim_device_of((char *)second + MIB), 1);
	EXPECT(gpusim_device_of(&first) == -1);
	EXPECT(gpusim_memory_find((char *)first + 5, &start, &size) && start == first);
	EXPECT_U64(gpusim_memory_give((char *)first + 512), GPUSIM_INVALID_VALUE);
	EXPECT_U64(gpusim_memory_give(first), 0);
	EXPECT_U64(gpusim_memory_give(first), GPUSIM_INVALID_VALUE);
	EXPECT_U64(gpusim_memory_give(second), 0);
	EXPECT_U64(gpusim_memory_give(NULL), 0);
	EXPECT_U64(gpusim_memory_take(2, MIB, &first), GPUSIM_NO_DEVICE);
	EXPECT_U64(used(0) + used(1), 0);
}

static void pools(void)
{
	struct gpusim_pool *pool = gpusim_pool_default(0);
	uint64_t threshold = UINT64_MAX, value;
	void *first, *second;

	EXPECT_U64(gpusim_pool_set(pool, 4, &threshold), 0);
	EXPECT_U64(gpusim_pool_take(pool, 1000, &first), 0);
	EXPECT_U64(used(0), 32 * MIB);
	EXPECT_U64(gpusim_pool_take(pool, 40 * MIB, &second), 0);
	EXPECT_U64(used(0), 64 * MIB);
	EXPECT_U64(gpusim_pool_get(pool, 7, &value), 0);
	EXPECT_U64(value, 40 * MIB + 1024);
	EXPECT_U64(gpusim_pool_give(second), 0);
	EXPECT_U64(gpusim_pool_give(second), GPUSIM_INVALID_VALUE);
	EXPECT_U64(used(0), 64 * MIB);
	EXPECT_U64(gpusim_pool_take(pool, 64 * MIB, &second), GPUSIM_OUT_OF_MEMORY);
	gpusim_pool_trim(pool, 0);
	EXPECT_U64(used(0), 32 * MIB);
	threshold = 0;
	EXPECT_U64(gpusim_pool_set(pool, 4, &threshold), 0);
	EXPECT_U64(gpusim_pool_give(first), 0);
	EXPECT_U64(used(0), 0);
}

/* A physical block is there until it is released and mapped nowhere. */
static void mapped(void)
{
	uint64_t range, handle, again;

	EXPECT_U64(gpusim_vmm_reserve(32 * MIB, &range), 0);
	EXPECT_U64(used(0), 0);
	EXPECT_U64(gpusim_vmm_create(1, 20 * MIB, &handle), 0);
	EXPECT_U64(used(1), 20 * MIB);
	EXPECT_U64(gpusim_vmm_map(range, 20 * MIB, handle), 0);
	EXPECT_U64(gpusim_vmm_map(range + 2 * MIB, 2 * MIB, handle), GPUSIM_INVALID_VALUE);
	EXPECT_U64(gpusim_vmm_map(range + 20 * MIB, 20 * MIB, handle), GPUSIM_INVALID_VALUE);
	EXPECT_U64(gpusim_device_of((void *)(range + 19 * MIB)), 1);
	EXPECT_U64(gpusim_vmm_retain(range + MIB, &again), 0);
	EXPECT_U64(again, handle);
	EXPECT_U64(gpusim_vmm_release(handle), 0);
	EXPECT_U64(gpusim_vmm_release(again), 0);
	EXPECT_U64(used(1), 20 * MIB);
	EXPECT_U64(gpusim_vmm_unmap(range, 20 * MIB), 0);
	EXPECT_U64(used(1), 0);
	EXPECT_U64(gpusim_vmm_create(1, 34 * MIB, &handle), GPUSIM_OUT_OF_MEMORY);
	EXPECT_U64(gpusim_vmm_unreserve(range, 32 * MIB), 0);
	EXPECT(gpusim_device_of((void *)range) == -1);
}

static void pinned(void)
{
	static char mine[8192];
	void *memory;

	EXPECT_U64(gpusim_host_take(10000, GPUSIM_HOST_PINNED, &memory), 0);
	memset(memory, 1, 10000);
	EXPECT_U64(gpusim_host_kind_of((char *)memory + 9999), GPUSIM_HOST_PINNED);
	EXPECT_U64(gpusim_host_register(mine, 4096), 0);
	EXPECT_U64(gpusim_host_register(mine + 100, 8), GPUSIM_HOST_ALREADY);
	EXPECT_U64(gpusim_host_kind_of(mine + 4095), GPUSIM_HOST_REGISTERED);
	EXPECT_U64(gpusim_host_kind_of(mine + 4096), GPUSIM_HOST_NONE);
	EXPECT_U64(gpusim_host_unregister(mine), 0);
	EXPECT_U64(gpusim_host_unregister(mine), GPUSIM_HOST_NOT);
	EXPECT_U64(gpusim_host_give(memory), 0);
	EXPECT_U64(gpusim_host_give(memory), GPUSIM_INVALID_VALUE);
}

int main(void)
{
	setenv("GPULEAK_SIM_DEVICES", "2", 1);
	setenv("GPULEAK_SIM_MEMORY", "64M,33554432", 1);
	unsetenv("CUDA_VISIBLE_DEVICES");
	EXPECT_U64(gpusim_device_count(), 2);
	plain();
	pools();
	mapped();
	pinned();
	return test_result();
}
