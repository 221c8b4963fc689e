/* Recurrent networks as PyTorch asks for them from cuDNN 8. */
#include <stddef.h>

#include "sim/cudnn/cudnn.h"
#include "sim/cudnn/rnn.h"
#include "sim/standin.h"

enum {
	DOUBLE_BIAS = 2
};

SIM_EXPORT int cudnnSetRNNDescriptor_v6(void *handle, struct cudnn_rnn *rnn, int hidden, int layers,
					void *dropout, int input_mode, int direction, int cell,
					int algorithm, int math_precision)
{
	(void)handle;
	(void)dropout;
	(void)input_mode;
	(void)algorithm;
	*rnn = (struct cudnn_rnn){
		.cell = cell,
		.bias_mode = DOUBLE_BIAS,
		.directions = direction ? 2 : 1,
		.type = math_precision,
		.hidden = hidden,
		.output = hidden,
		.layers = layers,
	};
	return CUDNN_OK;
}

SIM_EXPORT int cudnnSetRNNBiasMode(struct cudnn_rnn *rnn, int mode)
{
	rnn->bias_mode = mode;
	return CUDNN_OK;
}

SIM_EXPORT int cudnnSetRNNProjectionLayers(void *handle, struct cudnn_rnn *rnn, int recurrent,
					   int output)
{
	(void)handle;
	(void)output;
	rnn->output = recurrent;
	return CUDNN_OK;
}

/* The input's size is known from its descriptor alone, {batch, size, 1}. */
static struct cudnn_rnn with_input(const struct cudnn_rnn *rnn, const struct cudnn_tensor *input,
				   int type)
{
	struct cudnn_rnn known = *rnn;

	known.input = input->dims[1];
	known.type = type;
	return known;
}

SIM_EXPORT int cudnnGetRNNParamsSize(void *handle, struct cudnn_rnn *rnn,
				     struct cudnn_tensor *input, size_t *size, int type)
{
	struct cudnn_rnn known = with_input(rnn, input, type);

	(void)handle;
	*size = cudnn_rnn_weight_count(&known) * cudnn_type_size(type);
	return CUDNN_OK;
}

SIM_EXPORT int cudnnGetRNNWorkspaceSize(void *handle, struct cudnn_rnn *rnn, int steps,
					struct cudnn_tensor **inputs, size_t *size)
{
	struct cudnn_rnn known = with_input(rnn, inputs[0], inputs[0]->type);

	(void)handle;
	*size = cudnn_rnn_workspace(&known, (size_t)steps, (size_t)inputs[0]->dims[0]);
	return CUDNN_OK;
}

SIM_EXPORT int cudnnGetRNNTrainingReserveSize(void *handle, struct cudnn_rnn *rnn, int steps,
					      struct cudnn_tensor **inputs, size_t *size)
{
	struct cudnn_rnn known = with_input(rnn, inputs[0], inputs[0]->type);

	(void)handle;
	*size = cudnn_rnn_reserve(&known, (size_t)steps, (size_t)inputs[0]->dims[0]);
	return CUDNN_OK;
}

/* The weights' type is that of the descriptor of all of them, not the one of the mathematics. */
static void tell(struct cudnn_weight weight, const struct cudnn_tensor *all, const void *space,
		 struct cudnn_tensor *shape, const void **place)
{
	cudnn_tensor_set(shape, all->type, 1, weight.rows, weight.columns);
	if (!weight.present)
		shape->dim_count = 0;
	*place = weight.present ? (const char *)space + weight.offset * cudnn_type_size(all->type)
				: NULL;
}

SIM_EXPORT int cudnnGetRNNLinLayerMatrixParams(void *handle, struct cudnn_rnn *rnn,
					       int pseudo_layer, struct cudnn_tensor *input,
					       struct cudnn_tensor *all, const void *space, int id,
					       struct cudnn_tensor *shape, const void **place)
{
	struct cudnn_rnn known = with_input(rnn, input, all->type);

	(void)handle;
	tell(cudnn_rnn_matrix(&known, pseudo_layer, id), all, space, shape, place);
	return CUDNN_OK;
}

SIM_EXPORT int cudnnGetRNNLinLayerBiasParams(void *handle, struct cudnn_rnn *rnn, int pseudo_layer,
					     struct cudnn_tensor *input, struct cudnn_tensor *all,
					     const void *space, int id, struct cudnn_tensor *shape,
					     const void **place)
{
	struct cudnn_rnn known = with_input(rnn, input, all->type);

	(void)handle;
	tell(cudnn_rnn_bias(&known, pseudo_layer, id), all, space, shape, place);
	return CUDNN_OK;
}
