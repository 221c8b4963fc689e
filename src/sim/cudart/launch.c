/* Kernels: registered, asked about, launched; they do nothing. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sim/core/conjunction.h"
#include "sim/core/copy.h"
#include "sim/core/properties.h"
#include "sim/core/stream.h"
#include "sim/core/thread.h"
#include "sim/standin.h"

struct dimensions {
	unsigned x, y, z;
};

/* struct cudaFuncAttributes. */
struct function_attributes {
	size_t shared, constant, local;
	int max_threads, registers, ptx_version, binary_version, cache_mode_ca;
	int max_dynamic_shared, preferred_carveout;
	int cluster_width_set, cluster_width, cluster_height, cluster_depth;
	int cluster_scheduling_policy, non_portable_cluster, reserved[16];
};
_Static_assert(sizeof(struct function_attributes) == 144, "CUDA's size");

SIM_EXPORT void **__cudaRegisterFatBinary(void *binary)
{
	(void)binary;
	return calloc(1, sizeof(void *));
}

SIM_EXPORT void __cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

SIM_EXPORT void __cudaUnregisterFatBinary(void **handle)
{
	free(handle);
}

SIM_EXPORT void __cudaRegisterFunction(void **handle, const char *function, char *device_function,
				       const char *name)
{
	(void)handle;
	(void)device_function;
	gpusim_conjunction_register(function, name);
}

SIM_EXPORT void __cudaRegisterVar(void **handle)
{
	(void)handle;
}

SIM_EXPORT void __cudaRegisterManagedVar(void **handle)
{
	(void)handle;
}

SIM_EXPORT char __cudaInitModule(void **handle)
{
	(void)handle;
	return 1;
}

SIM_EXPORT unsigned __cudaPushCallConfiguration(struct dimensions grid, struct dimensions block,
						size_t shared, void *stream)
{
	struct gpusim_thread *thread = gpusim_thread();

	if (thread->launch_depth == GPUSIM_CONFIGS)
		return 1;
	thread->launches[thread->launch_depth++] = (struct gpusim_launch){
		{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, stream};
	return 0;
}

SIM_EXPORT int __cudaPopCallConfiguration(struct dimensions *grid, struct dimensions *block,
					  size_t *shared, void **stream)
{
	struct gpusim_thread *thread = gpusim_thread();
	const struct gpusim_launch *launch;

	if (thread->launch_depth == 0)
		return gpusim_result(GPUSIM_INVALID_VALUE);
	launch = &thread->launches[--thread->launch_depth];
	memcpy(grid, launch->grid, sizeof(*grid));
	memcpy(block, launch->block, sizeof(*block));
	*shared = launch->shared;
	*stream = launch->stream;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaLaunchKernel(const void *function, struct dimensions grid,
				struct dimensions block, void **arguments, size_t shared,
				void *stream)
{
	(void)grid;
	(void)block;
	(void)shared;
	gpusim_capture_add(stream);
	gpusim_kernel(function, arguments);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaLaunchCooperativeKernel(const void *function, struct dimensions grid,
					   struct dimensions block, void **arguments, size_t shared,
					   void *stream)
{
	return cudaLaunchKernel(function, grid, block, arguments, shared, stream);
}

/* The beginning of cudaLaunchConfig_t. */
struct launch_configuration {
	struct dimensions grid, block;
	size_t shared;
	void *stream;
};

SIM_EXPORT int cudaLaunchKernelExC(const struct launch_configuration *configuration,
				   const void *function, void **arguments)
{
	gpusim_capture_add(configuration->stream);
	gpusim_kernel(function, arguments);
	return GPUSIM_SUCCESS;
}

/* CUDA 13's launch stubs look their kernel up first. */
SIM_EXPORT int __cudaGetKernel(void **kernel, const void *function)
{
	*kernel = (void *)function;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int __cudaLaunchKernel(void *kernel, struct dimensions grid, struct dimensions block,
				  void **arguments, size_t shared, void *stream)
{
	return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

SIM_EXPORT int cudaGetKernel(void **kernel, const void *function)
{
	return __cudaGetKernel(kernel, function);
}

SIM_EXPORT int cudaFuncGetAttributes(struct function_attributes *attributes, const void *function)
{
	int device = gpusim_thread()->device;
	int version = gpusim_attribute(device, GPUSIM_CAPABILITY_MAJOR) * 10 +
		      gpusim_attribute(device, GPUSIM_CAPABILITY_MINOR);

	(void)function;
	*attributes = (struct function_attributes){
		.max_threads = 1024,
		.registers = 32,
		.ptx_version = version,
		.binary_version = version,
		.max_dynamic_shared = 49152,
		.preferred_carveout = -1,
	};
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaFuncSetAttribute(const void *function, int attribute, int value)
{
	(void)function;
	(void)attribute;
	(void)value;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaKernelSetAttributeForDevice(void *kernel, int attribute, int value, int device)
{
	(void)device;
	return cudaFuncSetAttribute(kernel, attribute, value);
}

SIM_EXPORT int cudaFuncSetCacheConfig(const void *function, int config)
{
	(void)function;
	(void)config;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function,
							     int block_size, size_t shared)
{
	(void)function;
	(void)block_size;
	(void)shared;
	*blocks = 2;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks,
								      const void *function,
								      int block_size, size_t shared,
								      unsigned flags)
{
	(void)flags;
	return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_size, shared);
}

SIM_EXPORT int cudaOccupancyMaxActiveClusters(int *clusters, const void *function,
					      const void *configuration)
{
	(void)function;
	(void)configuration;
	*clusters = 2;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaOccupancyMaxPotentialClusterSize(int *size, const void *function,
						    const void *configuration)
{
	(void)function;
	(void)configuration;
	*size = 8;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaOccupancyAvailableDynamicSMemPerBlock(size_t *size, const void *function,
							 int blocks, int block_size)
{
	(void)function;
	(void)blocks;
	(void)block_size;
	*size = 49152;
	return GPUSIM_SUCCESS;
}
