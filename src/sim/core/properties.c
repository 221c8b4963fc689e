#include "sim/core/properties.h"

#include <stddef.h>

#include "sim/core/config.h"
#include "sim/core/device.h"

const char gpusim_device_name[] = "gpuleak simulated GPU";

/* What differs between architectures.  The first row not above the capability counts. */
static const struct generation {
	int capability; /* major * 10 + minor */
	int processors, l2_size, threads, blocks, shared, shared_optin;
} generations[] = {
	{120, 170, 128 << 20, 1536, 24, 102400, 101376},
	{100, 148, 126 << 20, 2048, 32, 233472, 232448},
	{90, 132, 50 << 20, 2048, 32, 233472, 232448},
	{89, 128, 72 << 20, 1536, 24, 102400, 101376},
	{86, 84, 6 << 20, 1536, 16, 102400, 101376},
	{80, 108, 40 << 20, 2048, 32, 167936, 166912},
	{75, 40, 4 << 20, 1024, 16, 65536, 65536},
	{70, 80, 6 << 20, 2048, 32, 98304, 98304},
	{0, 56, 4 << 20, 2048, 32, 65536, 49152},
};

static const struct {
	int number, value;
} same[] = {
	{GPUSIM_MAX_THREADS_PER_BLOCK, 1024},
	{GPUSIM_MAX_BLOCK_X, 1024},
	{GPUSIM_MAX_BLOCK_Y, 1024},
	{GPUSIM_MAX_BLOCK_Z, 64},
	{GPUSIM_MAX_GRID_X, 2147483647},
	{GPUSIM_MAX_GRID_Y, 65535},
	{GPUSIM_MAX_GRID_Z, 65535},
	{GPUSIM_SHARED_PER_BLOCK, 49152},
	{GPUSIM_CONSTANT_MEMORY, 65536},
	{GPUSIM_WARP_SIZE, 32},
	{GPUSIM_MAX_PITCH, 2147483647},
	{GPUSIM_REGISTERS_PER_BLOCK, 65536},
	{GPUSIM_CLOCK_RATE, 1500000},
	{GPUSIM_TEXTURE_ALIGNMENT, 512},
	{GPUSIM_CAN_MAP_HOST_MEMORY, 1},
	{GPUSIM_CONCURRENT_KERNELS, 1},
	{GPUSIM_MEMORY_CLOCK_RATE, 2500000},
	{GPUSIM_MEMORY_BUS_WIDTH, 5120},
	{GPUSIM_ASYNC_ENGINES, 3},
	{GPUSIM_UNIFIED_ADDRESSING, 1},
	{GPUSIM_TEXTURE_PITCH_ALIGNMENT, 32},
	{GPUSIM_STREAM_PRIORITIES, 1},
	{GPUSIM_GLOBAL_L1_CACHE, 1},
	{GPUSIM_REGISTERS_PER_PROCESSOR, 65536},
	{GPUSIM_MANAGED_MEMORY, 1},
	{GPUSIM_CONCURRENT_MANAGED, 1},
	{GPUSIM_COMPUTE_PREEMPTION, 1},
	{GPUSIM_COOPERATIVE_LAUNCH, 1},
	{GPUSIM_HOST_REGISTER, 1},
	{GPUSIM_VMM, 1},
	{GPUSIM_SHARED_RESERVED, 1024},
	{GPUSIM_MEMORY_POOLS, 1},
};

static const struct generation *generation_of(const struct gpusim_config *config)
{
	const struct generation *generation = generations;

	while (generation->capability > config->major * 10 + config->minor)
		generation++;
	return generation;
}

int gpusim_attribute(int device, int number)
{
	const struct gpusim_config *config = gpusim_config();
	const struct generation *generation = generation_of(config);

	switch (number) {
	case GPUSIM_PROCESSOR_COUNT:
		return generation->processors;
	case GPUSIM_L2_SIZE:
		return generation->l2_size;
	case GPUSIM_THREADS_PER_PROCESSOR:
		return generation->threads;
	case GPUSIM_BLOCKS_PER_PROCESSOR:
		return generation->blocks;
	case GPUSIM_SHARED_PER_PROCESSOR:
		return generation->shared;
	case GPUSIM_SHARED_OPTIN:
		return generation->shared_optin;
	case GPUSIM_CAPABILITY_MAJOR:
		return config->major;
	case GPUSIM_CAPABILITY_MINOR:
		return config->minor;
	case GPUSIM_CLUSTER_LAUNCH:
		return config->major >= 9;
	case GPUSIM_PCI_BUS:
		return gpusim_device_physical(device) + 1;
	}
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (same[i].number == number)
			return same[i].value;
	return 0;
}
