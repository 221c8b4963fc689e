/* cuDNN's handle, version and errors. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/cudnn/cudnn.h"
#include "sim/standin.h"

struct dnn_handle {
	void *stream;
};

/* PyTorch takes any version of the same major that isn't older than its own. */
enum {
	MAJOR = SIM_MAJOR,
	MINOR = SIM_MAJOR == 8 ? 9 : 99,
	PATCH = SIM_MAJOR == 8 ? 7 : 0,
	VERSION = SIM_MAJOR == 8 ? 8907 : 99900,
	CUDART_VERSION = SIM_MAJOR == 8 ? 12010 : 13020,
};

SIM_EXPORT size_t cudnnGetVersion(void)
{
	return VERSION;
}

SIM_EXPORT size_t cudnnGetCudartVersion(void)
{
	return CUDART_VERSION;
}

SIM_EXPORT int cudnnGetProperty(int which, int *value)
{
	static const int numbers[] = {MAJOR, MINOR, PATCH};

	if (which < 0 || which > 2)
		return CUDNN_BAD_PARAM;
	*value = numbers[which];
	return CUDNN_OK;
}

SIM_EXPORT const char *cudnnGetErrorString(int error)
{
	switch (error) {
	case CUDNN_OK:
		return "CUDNN_STATUS_SUCCESS";
	case CUDNN_ALLOC_FAILED:
		return "CUDNN_STATUS_ALLOC_FAILED";
	case CUDNN_BAD_PARAM:
		return "CUDNN_STATUS_BAD_PARAM";
	}
	return "CUDNN_STATUS_NOT_SUPPORTED";
}

SIM_EXPORT void cudnnGetLastErrorString(char *message, size_t size)
{
	if (size)
		message[0] = 0;
}

SIM_EXPORT int cudnnCreate(struct dnn_handle **handle)
{
	*handle = calloc(1, sizeof(**handle));
	return *handle ? CUDNN_OK : CUDNN_ALLOC_FAILED;
}

SIM_EXPORT int cudnnDestroy(struct dnn_handle *handle)
{
	free(handle);
	return CUDNN_OK;
}

SIM_EXPORT int cudnnSetStream(struct dnn_handle *handle, void *stream)
{
	handle->stream = stream;
	return CUDNN_OK;
}

SIM_EXPORT int cudnnGetStream(struct dnn_handle *handle, void **stream)
{
	*stream = handle->stream;
	return CUDNN_OK;
}
