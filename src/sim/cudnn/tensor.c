/* Tensor and filter descriptors, which give back what was set. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cudnn/cudnn.h"
#include "sim/standin.h"

size_t cudnn_type_size(int type)
{
	switch (type) {
	case 1:	 /* double */
	case 10: /* int64 */
		return 8;
	case 2: /* half */
	case 9: /* bfloat16 */
		return 2;
	case 3:	 /* int8 */
	case 6:	 /* uint8 */
	case 11: /* boolean */
	case 12: /* fp8 */
	case 13:
		return 1;
	}
	return 4;
}

void cudnn_tensor_set(struct cudnn_tensor *tensor, int type, int first, int second, int third)
{
	*tensor = (struct cudnn_tensor){
		.type = type,
		.dim_count = 3,
		.dims = {first, second, third},
		.strides = {second * third, third, 1},
	};
}

static int set(struct cudnn_tensor *tensor, int type, int format, int count, const int *dims,
	       const int *strides)
{
	if (count < 0 || count > CUDNN_DIMS)
		return CUDNN_BAD_PARAM;
	*tensor = (struct cudnn_tensor){.type = type, .format = format, .dim_count = count};
	memcpy(tensor->dims, dims, (size_t)count * sizeof(*dims));
	if (strides)
		memcpy(tensor->strides, strides, (size_t)count * sizeof(*strides));
	return CUDNN_OK;
}

/* The arrays are cut to what was asked for, the number of dimensions isn't. */
static void get(const struct cudnn_tensor *tensor, int wanted, int *type, int *count, int *dims,
		int *strides)
{
	size_t size =
		(size_t)(wanted < tensor->dim_count ? wanted : tensor->dim_count) * sizeof(int);

	*type = tensor->type;
	*count = tensor->dim_count;
	memcpy(dims, tensor->dims, size);
	if (strides)
		memcpy(strides, tensor->strides, size);
}

SIM_EXPORT int cudnnCreateTensorDescriptor(struct cudnn_tensor **tensor)
{
	*tensor = calloc(1, sizeof(**tensor));
	return *tensor ? CUDNN_OK : CUDNN_ALLOC_FAILED;
}

SIM_EXPORT int cudnnDestroyTensorDescriptor(struct cudnn_tensor *tensor)
{
	free(tensor);
	return CUDNN_OK;
}

SIM_EXPORT int cudnnSetTensorNdDescriptor(struct cudnn_tensor *tensor, int type, int count,
					  const int *dims, const int *strides)
{
	return set(tensor, type, 0, count, dims, strides);
}

SIM_EXPORT int cudnnGetTensorNdDescriptor(const struct cudnn_tensor *tensor, int wanted, int *type,
					  int *count, int *dims, int *strides)
{
	get(tensor, wanted, type, count, dims, strides);
	return CUDNN_OK;
}

SIM_EXPORT int cudnnCreateFilterDescriptor(struct cudnn_tensor **filter)
{
	return cudnnCreateTensorDescriptor(filter);
}

SIM_EXPORT int cudnnDestroyFilterDescriptor(struct cudnn_tensor *filter)
{
	return cudnnDestroyTensorDescriptor(filter);
}

SIM_EXPORT int cudnnSetFilterNdDescriptor(struct cudnn_tensor *filter, int type, int format,
					  int count, const int *dims)
{
	return set(filter, type, format, count, dims, NULL);
}

SIM_EXPORT int cudnnGetFilterNdDescriptor(const struct cudnn_tensor *filter, int wanted, int *type,
					  int *format, int *count, int *dims)
{
	get(filter, wanted, type, count, dims, NULL);
	*format = filter->format;
	return CUDNN_OK;
}
