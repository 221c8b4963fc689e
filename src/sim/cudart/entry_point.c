/* The driver's functions by name, for which the driver itself is asked. */
#include <stddef.h>
#include <stdint.h>

#include "sim/core/thread.h"
#include "sim/standin.h"

int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
			int *status);

SIM_EXPORT int cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
				       int *status)
{
	return gpusim_result(cuGetProcAddress_v2(name, function, 0, flags, status));
}

SIM_EXPORT int cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
						unsigned long long flags, int *status)
{
	return gpusim_result(cuGetProcAddress_v2(name, function, (int)version, flags, status));
}
