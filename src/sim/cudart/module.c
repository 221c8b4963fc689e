/* Device variables, and code loaded at run time as libraries. */
#include <stddef.h>
#include <stdlib.h>

#include "sim/core/device.h"
#include "sim/core/thread.h"
#include "sim/standin.h"

enum {
	SYMBOL_BYTES = 4096
};

/* Every variable has the same place on a device: nothing reads or writes it but kernels. */
static int symbol_address(void **address)
{
	static _Thread_local void *places[64];
	int device = gpusim_thread()->device;

	if (!places[device] && gpusim_address_take(device, SYMBOL_BYTES, &places[device]))
		return gpusim_result(GPUSIM_OUT_OF_MEMORY);
	*address = places[device];
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaGetSymbolAddress(void **address, const void *symbol)
{
	(void)symbol;
	return symbol_address(address);
}

SIM_EXPORT int cudaGetSymbolSize(size_t *size, const void *symbol)
{
	(void)symbol;
	*size = SYMBOL_BYTES;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaLibraryLoadData(void **library)
{
	*library = calloc(1, 16);
	return gpusim_result(*library ? GPUSIM_SUCCESS : GPUSIM_OUT_OF_MEMORY);
}

SIM_EXPORT int cudaLibraryLoadFromFile(void **library)
{
	return cudaLibraryLoadData(library);
}

SIM_EXPORT int cudaLibraryUnload(void *library)
{
	free(library);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaLibraryGetKernel(void **kernel, void *library, const char *name)
{
	(void)name;
	*kernel = library;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaLibraryGetKernelCount(unsigned *count, void *library)
{
	(void)library;
	*count = 0;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaLibraryGetGlobal(void **address, size_t *size, void *library, const char *name)
{
	(void)library;
	(void)name;
	if (size)
		*size = SYMBOL_BYTES;
	return address ? symbol_address(address) : GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaLibraryGetManaged(void **address, size_t *size, void *library, const char *name)
{
	return cudaLibraryGetGlobal(address, size, library, name);
}
