#ifndef SIM_CUDNN_RNN_H
#define SIM_CUDNN_RNN_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A recurrent network, and where each of its weights lies.
 *
 * PyTorch checks the order: for each pseudo-layer (layer times directions) the input matrices of
 * all gates, then the recurrent ones, then LSTM's projection; after all matrices the biases, for
 * each pseudo-layer those of the inputs, then the recurrent ones.
 */
struct cudnn_rnn {
	int cell;      /* enum rnn_cell */
	int bias_mode; /* 0 none, 1 or 3 one per gate, 2 two */
	int directions;
	int type; /* cudnnDataType_t of the weights */
	int input, hidden, output, layers;
};

enum rnn_cell {
	RNN_RELU = 0,
	RNN_TANH = 1,
	RNN_LSTM = 2,
	RNN_GRU = 3
};

/* One weight, in elements. */
struct cudnn_weight {
	bool present;
	size_t offset;
	int rows, columns;
};

int cudnn_rnn_gates(const struct cudnn_rnn *rnn);
size_t cudnn_rnn_weight_count(const struct cudnn_rnn *rnn);

/* The matrix or bias `id` of a pseudo-layer: gates of the input, recurrent gates, 8 the projection.
 */
struct cudnn_weight cudnn_rnn_matrix(const struct cudnn_rnn *rnn, int pseudo_layer, int id);
struct cudnn_weight cudnn_rnn_bias(const struct cudnn_rnn *rnn, int pseudo_layer, int id);

/* Bytes for one pass over `steps` steps of `batch` sequences: what is kept for backward, and
 * scratch. */
size_t cudnn_rnn_reserve(const struct cudnn_rnn *rnn, size_t steps, size_t batch);
size_t cudnn_rnn_workspace(const struct cudnn_rnn *rnn, size_t steps, size_t batch);

#endif
