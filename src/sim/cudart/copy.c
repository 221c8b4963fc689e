/* Copies and fills.  They are done when they return; streams make no difference. */
#include <stddef.h>

#include "sim/core/copy.h"
#include "sim/core/stream.h"
#include "sim/standin.h"

SIM_EXPORT int cudaMemcpy(void *to, const void *from, size_t size, int kind)
{
	(void)kind;
	gpusim_copy(to, from, size);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, void *stream)
{
	gpusim_capture_add(stream);
	return cudaMemcpy(to, from, size, kind);
}

SIM_EXPORT int cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device,
			      size_t size)
{
	(void)to_device;
	(void)from_device;
	gpusim_copy(to, from, size);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
				   size_t size, void *stream)
{
	gpusim_capture_add(stream);
	return cudaMemcpyPeer(to, to_device, from, from_device, size);
}

SIM_EXPORT int cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
			    size_t width, size_t height, int kind)
{
	(void)kind;
	gpusim_copy_rows(to, to_pitch, from, from_pitch, width, height);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
				 size_t width, size_t height, int kind, void *stream)
{
	gpusim_capture_add(stream);
	return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}

SIM_EXPORT int cudaMemset(void *to, int value, size_t size)
{
	gpusim_fill(to, value, size);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaMemsetAsync(void *to, int value, size_t size, void *stream)
{
	gpusim_capture_add(stream);
	return cudaMemset(to, value, size);
}

SIM_EXPORT int cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
	for (size_t row = 0; row < height; row++)
		gpusim_fill((char *)to + row * pitch, value, width);
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
				 void *stream)
{
	gpusim_capture_add(stream);
	return cudaMemset2D(to, pitch, value, width, height);
}

/* Nothing reads a device's variables but kernels, and those don't run. */
SIM_EXPORT int cudaMemcpyToSymbol(const void *symbol, const void *from, size_t size, size_t offset,
				  int kind)
{
	(void)symbol;
	(void)from;
	(void)size;
	(void)offset;
	(void)kind;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t size,
				       size_t offset, int kind, void *stream)
{
	gpusim_capture_add(stream);
	return cudaMemcpyToSymbol(symbol, from, size, offset, kind);
}
