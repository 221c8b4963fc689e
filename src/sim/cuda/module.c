/* The driver's modules and kernels, as triton and NVRTC programs use them. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sim/core/copy.h"
#include "sim/core/device.h"
#include "sim/core/shadow.h"
#include "sim/core/stream.h"
#include "sim/core/thread.h"
#include "sim/standin.h"

static int new_object(void **object)
{
	*object = calloc(1, 16);
	return *object ? GPUSIM_SUCCESS : GPUSIM_OUT_OF_MEMORY;
}

SIM_EXPORT int cuModuleLoadData(void **module)
{
	return new_object(module);
}

SIM_EXPORT int cuModuleLoadDataEx(void **module)
{
	return new_object(module);
}

SIM_EXPORT int cuModuleLoad(void **module)
{
	return new_object(module);
}

SIM_EXPORT int cuModuleLoadFatBinary(void **module)
{
	return new_object(module);
}

SIM_EXPORT int cuModuleUnload(void *module)
{
	free(module);
	return GPUSIM_SUCCESS;
}

/* A function is its module: no two of them differ. */
SIM_EXPORT int cuModuleGetFunction(void **function, void *module, const char *name)
{
	(void)name;
	*function = module;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuModuleGetGlobal_v2(void **address, size_t *size, void *module, const char *name)
{
	(void)module;
	(void)name;
	if (size)
		*size = 4096;
	return address ? gpusim_address_take(gpusim_thread()->device, 4096, address)
		       : GPUSIM_SUCCESS;
}

SIM_EXPORT int cuLibraryLoadData(void **library)
{
	return new_object(library);
}

SIM_EXPORT int cuLibraryLoadFromFile(void **library)
{
	return new_object(library);
}

SIM_EXPORT int cuLibraryUnload(void *library)
{
	return cuModuleUnload(library);
}

SIM_EXPORT int cuLibraryGetKernel(void **kernel, void *library, const char *name)
{
	return cuModuleGetFunction(kernel, library, name);
}

SIM_EXPORT int cuLibraryGetModule(void **module, void *library)
{
	*module = library;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuKernelGetFunction(void **function, void *kernel)
{
	*function = kernel;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuLinkCreate_v2(unsigned count, int *options, void **values, void **state)
{
	(void)count;
	(void)options;
	(void)values;
	return new_object(state);
}

SIM_EXPORT int cuLinkAddData_v2(void *state)
{
	(void)state;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuLinkComplete(void *state, void **code, size_t *size)
{
	*code = state;
	*size = 16;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuLinkDestroy(void *state)
{
	free(state);
	return GPUSIM_SUCCESS;
}

enum {
	FUNCTION_MAX_THREADS = 0,
	FUNCTION_REGISTERS = 4
};

SIM_EXPORT int cuFuncGetAttribute(int *value, int attribute, void *function)
{
	(void)function;
	*value = attribute == FUNCTION_MAX_THREADS ? 1024
		 : attribute == FUNCTION_REGISTERS ? 32
						   : 0;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuKernelGetAttribute(int *value, int attribute, void *kernel, int device)
{
	(void)device;
	return cuFuncGetAttribute(value, attribute, kernel);
}

SIM_EXPORT int cuFuncSetAttribute(void *function, int attribute, int value)
{
	(void)function;
	(void)attribute;
	(void)value;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuKernelSetAttribute(int attribute, int value, void *kernel, int device)
{
	(void)device;
	return cuFuncSetAttribute(kernel, attribute, value);
}

SIM_EXPORT int cuFuncSetCacheConfig(void *function, int config)
{
	(void)function;
	(void)config;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuFuncLoad(void *function)
{
	(void)function;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks)
{
	*blocks = 2;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks)
{
	*blocks = 2;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuOccupancyMaxActiveClusters(int *clusters)
{
	*clusters = 2;
	return GPUSIM_SUCCESS;
}

/* `extra` is a list of names and values; what it passes is one buffer with all arguments. */
static void launch(const void *function, void **arguments, void **extra)
{
	enum {
		END = 0,
		BUFFER = 1,
		SIZE = 2
	};
	const void *buffer = NULL;
	size_t size = 0;

	if (arguments || !extra) {
		gpusim_kernel(function, arguments);
		return;
	}
	for (; (size_t)extra[0] != END; extra += 2) {
		if ((size_t)extra[0] == BUFFER)
			buffer = extra[1];
		else if ((size_t)extra[0] == SIZE)
			size = *(size_t *)extra[1];
	}
	gpusim_shadow_kernel(buffer, buffer ? size / 8 : 0);
}

SIM_EXPORT int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
			      unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
			      void *stream, void **arguments, void **extra)
{
	(void)grid_x;
	(void)grid_y;
	(void)grid_z;
	(void)block_x;
	(void)block_y;
	(void)block_z;
	(void)shared;
	gpusim_capture_add(stream);
	launch(function, arguments, extra);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuLaunchCooperativeKernel(void *function, unsigned grid_x, unsigned grid_y,
					 unsigned grid_z, unsigned block_x, unsigned block_y,
					 unsigned block_z, unsigned shared, void *stream,
					 void **arguments)
{
	return cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared,
			      stream, arguments, NULL);
}

/* The beginning of CUlaunchConfig. */
struct launch_configuration {
	unsigned grid[3], block[3], shared;
	void *stream;
};

SIM_EXPORT int cuLaunchKernelEx(const struct launch_configuration *configuration, void *function,
				void **arguments, void **extra)
{
	gpusim_capture_add(configuration->stream);
	launch(function, arguments, extra);
	return GPUSIM_SUCCESS;
}

/* A tensor map is 128 bytes that only kernels read. */
SIM_EXPORT int cuTensorMapEncodeTiled(void *map)
{
	memset(map, 0, 128);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuTensorMapEncodeIm2col(void *map)
{
	return cuTensorMapEncodeTiled(map);
}

SIM_EXPORT int cuTensorMapReplaceAddress(void *map, void *address)
{
	(void)map;
	(void)address;
	return GPUSIM_SUCCESS;
}
