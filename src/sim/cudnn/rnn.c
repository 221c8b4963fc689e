#include "sim/cudnn/rnn.h"

#include "sim/cudnn/cudnn.h"

enum {
	PROJECTION = 8
};

int cudnn_rnn_gates(const struct cudnn_rnn *rnn)
{
	return rnn->cell == RNN_LSTM ? 4 : rnn->cell == RNN_GRU ? 3 : 1;
}

static bool projects(const struct cudnn_rnn *rnn)
{
	return rnn->output != rnn->hidden;
}

static int input_of(const struct cudnn_rnn *rnn, int pseudo_layer)
{
	return pseudo_layer < rnn->directions ? rnn->input : rnn->output * rnn->directions;
}

/* Elements of all matrices of one pseudo-layer. */
static size_t matrices_of(const struct cudnn_rnn *rnn, int pseudo_layer)
{
	size_t gates = (size_t)cudnn_rnn_gates(rnn), hidden = (size_t)rnn->hidden;
	size_t count = gates * hidden * (size_t)(input_of(rnn, pseudo_layer) + rnn->output);

	return projects(rnn) ? count + hidden * (size_t)rnn->output : count;
}

/* Elements of all matrices before those of `pseudo_layer`. */
static size_t matrices_before(const struct cudnn_rnn *rnn, int pseudo_layer)
{
	size_t count = 0;

	for (int i = 0; i < pseudo_layer; i++)
		count += matrices_of(rnn, i);
	return count;
}

static int biases_per_gate(const struct cudnn_rnn *rnn)
{
	return rnn->bias_mode == 0 ? 0 : rnn->bias_mode == 2 ? 2 : 1;
}

/* Elements of all biases of one pseudo-layer. */
static size_t biases_of(const struct cudnn_rnn *rnn)
{
	return (size_t)(cudnn_rnn_gates(rnn) * biases_per_gate(rnn)) * (size_t)rnn->hidden;
}

size_t cudnn_rnn_weight_count(const struct cudnn_rnn *rnn)
{
	int pseudo_layers = rnn->layers * rnn->directions;

	return matrices_before(rnn, pseudo_layers) + (size_t)pseudo_layers * biases_of(rnn);
}

struct cudnn_weight cudnn_rnn_matrix(const struct cudnn_rnn *rnn, int pseudo_layer, int id)
{
	struct cudnn_weight weight = {.offset = matrices_before(rnn, pseudo_layer)};
	int gates = cudnn_rnn_gates(rnn), input = input_of(rnn, pseudo_layer);
	size_t hidden = (size_t)rnn->hidden;

	if (id < gates) {
		weight.rows = rnn->hidden;
		weight.columns = input;
		weight.offset += (size_t)id * hidden * (size_t)input;
		weight.present = true;
	} else if (id < 2 * gates) {
		weight.rows = rnn->hidden;
		weight.columns = rnn->output;
		weight.offset += (size_t)gates * hidden * (size_t)input +
				 (size_t)(id - gates) * hidden * (size_t)rnn->output;
		weight.present = true;
	} else if (id == PROJECTION && projects(rnn)) {
		weight.rows = rnn->output;
		weight.columns = rnn->hidden;
		weight.offset += matrices_of(rnn, pseudo_layer) - hidden * (size_t)rnn->output;
		weight.present = true;
	}
	return weight;
}

struct cudnn_weight cudnn_rnn_bias(const struct cudnn_rnn *rnn, int pseudo_layer, int id)
{
	int gates = cudnn_rnn_gates(rnn);
	struct cudnn_weight weight = {0};

	if (id >= gates * biases_per_gate(rnn))
		return weight;
	weight.present = true;
	weight.rows = rnn->hidden;
	weight.columns = 1;
	weight.offset = matrices_before(rnn, rnn->layers * rnn->directions) +
			(size_t)pseudo_layer * biases_of(rnn) + (size_t)id * (size_t)rnn->hidden;
	return weight;
}

/* For each layer and step the gates, the cell and the output. */
size_t cudnn_rnn_reserve(const struct cudnn_rnn *rnn, size_t steps, size_t batch)
{
	size_t per_step = (size_t)(cudnn_rnn_gates(rnn) + 2) * (size_t)rnn->hidden;

	return (size_t)(rnn->layers * rnn->directions) * steps * batch * per_step *
	       cudnn_type_size(rnn->type);
}

/* The inputs' part of all gates, for the layer under way. */
size_t cudnn_rnn_workspace(const struct cudnn_rnn *rnn, size_t steps, size_t batch)
{
	return (size_t)(rnn->directions * cudnn_rnn_gates(rnn) * rnn->hidden) * steps * batch *
	       cudnn_type_size(rnn->type);
}
