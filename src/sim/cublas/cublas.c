/* cuBLAS handles, which remember what was set.  The multiplications come from lists/cublas.txt. */
#include <stddef.h>
#include <stdlib.h>

#include "sim/standin.h"

struct blas_handle {
	void *stream, *workspace;
	size_t workspace_size;
	int math_mode, pointer_mode, atomics_mode, processors;
};

enum {
	ALLOC_FAILED = 3,
	VERSION = SIM_MAJOR == 12 ? 120800 : 130200
};

SIM_EXPORT int cublasCreate_v2(struct blas_handle **handle)
{
	*handle = calloc(1, sizeof(**handle));
	return *handle ? GPUSIM_SUCCESS : ALLOC_FAILED;
}

SIM_EXPORT int cublasDestroy_v2(struct blas_handle *handle)
{
	free(handle);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cublasGetVersion_v2(struct blas_handle *handle, int *version)
{
	(void)handle;
	*version = VERSION;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cublasSetStream_v2(struct blas_handle *handle, void *stream)
{
	handle->stream = stream;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cublasGetStream_v2(struct blas_handle *handle, void **stream)
{
	*stream = handle->stream;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cublasSetWorkspace_v2(struct blas_handle *handle, void *workspace, size_t size)
{
	handle->workspace = workspace;
	handle->workspace_size = size;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cublasSetMathMode(struct blas_handle *handle, int mode)
{
	handle->math_mode = mode;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cublasGetMathMode(struct blas_handle *handle, int *mode)
{
	*mode = handle->math_mode;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cublasSetPointerMode_v2(struct blas_handle *handle, int mode)
{
	handle->pointer_mode = mode;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cublasGetPointerMode_v2(struct blas_handle *handle, int *mode)
{
	*mode = handle->pointer_mode;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cublasSetAtomicsMode(struct blas_handle *handle, int mode)
{
	handle->atomics_mode = mode;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cublasGetAtomicsMode(struct blas_handle *handle, int *mode)
{
	*mode = handle->atomics_mode;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cublasSetSmCountTarget(struct blas_handle *handle, int processors)
{
	handle->processors = processors;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cublasGetSmCountTarget(struct blas_handle *handle, int *processors)
{
	*processors = handle->processors;
	return GPUSIM_SUCCESS;
}
