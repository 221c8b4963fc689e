#ifndef SIM_CUDNN_CUDNN_H
#define SIM_CUDNN_CUDNN_H

#include <stddef.h>

/* cuDNN's results, which it renumbered in version 9. */
enum {
	CUDNN_OK = 0,
	CUDNN_ALLOC_FAILED = SIM_MAJOR == 8 ? 2 : 4003,
	CUDNN_BAD_PARAM = SIM_MAJOR == 8 ? 3 : 2000,
};

enum {
	CUDNN_DIMS = 8
};

/* A tensor or filter descriptor: what was set. */
struct cudnn_tensor {
	int type, format, dim_count;
	int dims[CUDNN_DIMS], strides[CUDNN_DIMS];
};

/* Fill `tensor` with three dimensions, packed. */
void cudnn_tensor_set(struct cudnn_tensor *tensor, int type, int first, int second, int third);

/* Bytes of an element of cudnnDataType_t `type`. */
size_t cudnn_type_size(int type);

#endif
