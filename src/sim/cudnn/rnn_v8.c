/* Recurrent networks as PyTorch asks for them from cuDNN 9. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cudnn/cudnn.h"
#include "sim/cudnn/rnn.h"
#include "sim/standin.h"

struct rnn_data {
	int steps, batch;
};

enum {
	TRAINING = 1
};

SIM_EXPORT int cudnnCreateRNNDescriptor(struct cudnn_rnn **rnn)
{
	*rnn = calloc(1, sizeof(**rnn));
	return *rnn ? CUDNN_OK : CUDNN_ALLOC_FAILED;
}

SIM_EXPORT int cudnnDestroyRNNDescriptor(struct cudnn_rnn *rnn)
{
	free(rnn);
	return CUDNN_OK;
}

SIM_EXPORT int cudnnCreateRNNDataDescriptor(struct rnn_data **data)
{
	*data = calloc(1, sizeof(**data));
	return *data ? CUDNN_OK : CUDNN_ALLOC_FAILED;
}

SIM_EXPORT int cudnnDestroyRNNDataDescriptor(struct rnn_data *data)
{
	free(data);
	return CUDNN_OK;
}

SIM_EXPORT int cudnnSetRNNDataDescriptor(struct rnn_data *data, int type, int layout, int steps,
					 int batch, int width, const int *lengths, void *padding)
{
	(void)type;
	(void)layout;
	(void)width;
	(void)lengths;
	(void)padding;
	*data = (struct rnn_data){steps, batch};
	return CUDNN_OK;
}

SIM_EXPORT int cudnnSetRNNDescriptor_v8(struct cudnn_rnn *rnn, int algorithm, int cell,
					int bias_mode, int direction, int input_mode, int type,
					int math_precision, int math_type, int32_t input,
					int32_t hidden, int32_t projection, int32_t layers,
					void *dropout, uint32_t flags)
{
	(void)algorithm;
	(void)input_mode;
	(void)math_precision;
	(void)math_type;
	(void)dropout;
	(void)flags;
	*rnn = (struct cudnn_rnn){
		.cell = cell,
		.bias_mode = bias_mode,
		.directions = direction ? 2 : 1,
		.type = type,
		.input = input,
		.hidden = hidden,
		.output = projection,
		.layers = layers,
	};
	return CUDNN_OK;
}

SIM_EXPORT int cudnnGetRNNWeightSpaceSize(void *handle, struct cudnn_rnn *rnn, size_t *size)
{
	(void)handle;
	*size = cudnn_rnn_weight_count(rnn) * cudnn_type_size(rnn->type);
	return CUDNN_OK;
}

SIM_EXPORT int cudnnGetRNNTempSpaceSizes(void *handle, struct cudnn_rnn *rnn, int mode,
					 struct rnn_data *data, size_t *workspace, size_t *reserve)
{
	size_t steps = (size_t)data->steps, batch = (size_t)data->batch;

	(void)handle;
	if (workspace)
		*workspace = cudnn_rnn_workspace(rnn, steps, batch);
	if (reserve)
		*reserve = mode == TRAINING ? cudnn_rnn_reserve(rnn, steps, batch) : 0;
	return CUDNN_OK;
}

/* The place and shape of one weight; no place if there is none. */
static void tell(const struct cudnn_rnn *rnn, struct cudnn_weight weight, const void *space,
		 struct cudnn_tensor *shape, const void **place)
{
	if (shape)
		cudnn_tensor_set(shape, rnn->type, 1, weight.rows, weight.columns);
	if (shape && !weight.present)
		shape->dim_count = 0;
	if (!place)
		return;
	*place = weight.present ? (const char *)space + weight.offset * cudnn_type_size(rnn->type)
				: NULL;
}

SIM_EXPORT int cudnnGetRNNWeightParams(void *handle, struct cudnn_rnn *rnn, int32_t pseudo_layer,
				       size_t size, const void *space, int32_t id,
				       struct cudnn_tensor *matrix_shape, const void **matrix,
				       struct cudnn_tensor *bias_shape, const void **bias)
{
	(void)handle;
	(void)size;
	tell(rnn, cudnn_rnn_matrix(rnn, pseudo_layer, id), space, matrix_shape, matrix);
	tell(rnn, cudnn_rnn_bias(rnn, pseudo_layer, id), space, bias_shape, bias);
	return CUDNN_OK;
}
