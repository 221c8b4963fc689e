/* The driver's names of its results. */
#include <stddef.h>

#include "sim/standin.h"

static const struct {
	int number;
	const char *name, *text;
} errors[] = {
	{0, "CUDA_SUCCESS", "no error"},
	{1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
	{2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
	{100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
	{101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
	{201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
	{500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
	{801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
};

static int find(int error, const char **answer, int text)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		if (errors[i].number != error)
			continue;
		*answer = text ? errors[i].text : errors[i].name;
		return GPUSIM_SUCCESS;
	}
	*answer = NULL;
	return GPUSIM_INVALID_VALUE;
}

SIM_EXPORT int cuGetErrorName(int error, const char **name)
{
	return find(error, name, 0);
}

SIM_EXPORT int cuGetErrorString(int error, const char **text)
{
	return find(error, text, 1);
}
