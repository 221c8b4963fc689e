/* Device variables, and code loaded at run time as libraries. */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "sim/core/config.h"
#include "sim/core/device.h"
#include "sim/core/thread.h"
#include "sim/standin.h"

enum {
	SYMBOL_BYTES = 4096
};

/* Every variable has the same place on a device: nothing reads or writes it but kernels. */
static int symbol_address(void **address)
{
	static _Atomic(void *) places[GPUSIM_DEVICES_MAX];
	int device = gpusim_thread()->device;
	void *place = NULL, *none = NULL;
	uint64_t size;

	if (!atomic_load(&places[device])) {
		if (gpusim_address_take(device, SYMBOL_BYTES, &place))
			return gpusim_result(GPUSIM_OUT_OF_MEMORY);
		if (!atomic_compare_exchange_strong(&places[device], &none, place))
			gpusim_address_give(place, &size); /* another thread was quicker */
	}
	*address = atomic_load(&places[device]);
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
