/* NVRTC: takes any program and gives an empty one. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sim/standin.h"

enum {
	OUT_OF_MEMORY = 1
};

SIM_EXPORT int nvrtcVersion(int *major, int *minor)
{
	*major = SIM_MAJOR;
	*minor = SIM_MAJOR == 12 ? 8 : 2;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT const char *nvrtcGetErrorString(int error)
{
	return error ? "NVRTC error of the simulated GPU" : "NVRTC_SUCCESS";
}

SIM_EXPORT int nvrtcGetNumSupportedArchs(int *count)
{
	*count = 5;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int nvrtcGetSupportedArchs(int *archs)
{
	static const int all[] = {75, 80, 86, 90, 100};

	memcpy(archs, all, sizeof(all));
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int nvrtcCreateProgram(void **program)
{
	*program = calloc(1, 16);
	return *program ? GPUSIM_SUCCESS : OUT_OF_MEMORY;
}

SIM_EXPORT int nvrtcDestroyProgram(void **program)
{
	free(*program);
	*program = NULL;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int nvrtcCompileProgram(void *program, int count, const char *const *options)
{
	(void)program;
	(void)count;
	(void)options;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int nvrtcAddNameExpression(void *program, const char *name)
{
	(void)program;
	(void)name;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int nvrtcGetLoweredName(void *program, const char *name, const char **lowered)
{
	(void)program;
	*lowered = name;
	return GPUSIM_SUCCESS;
}

/* Log, PTX and CUBIN are one zero byte each. */
static int one_byte_size(size_t *size)
{
	*size = 1;
	return GPUSIM_SUCCESS;
}

static int one_byte(char *bytes)
{
	*bytes = 0;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int nvrtcGetProgramLogSize(void *program, size_t *size)
{
	(void)program;
	return one_byte_size(size);
}

SIM_EXPORT int nvrtcGetProgramLog(void *program, char *log)
{
	(void)program;
	return one_byte(log);
}

SIM_EXPORT int nvrtcGetPTXSize(void *program, size_t *size)
{
	(void)program;
	return one_byte_size(size);
}

SIM_EXPORT int nvrtcGetPTX(void *program, char *ptx)
{
	(void)program;
	return one_byte(ptx);
}

SIM_EXPORT int nvrtcGetCUBINSize(void *program, size_t *size)
{
	(void)program;
	return one_byte_size(size);
}

SIM_EXPORT int nvrtcGetCUBIN(void *program, char *cubin)
{
	(void)program;
	return one_byte(cubin);
}
