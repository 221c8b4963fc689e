/* The choice of an algorithm in cuDNN's older interface: there is one, and it needs no workspace.
 */
#include <stddef.h>
#include <string.h>

#include "sim/cudnn/cudnn.h"
#include "sim/standin.h"

/* cudnnConvolutionFwdAlgoPerf_t and its two sisters. */
struct performance {
	int algorithm, status;
	float time;
	size_t memory;
	int determinism, math_type, reserved[3];
};

static int one_result(int wanted, int *count, struct performance *result)
{
	*count = wanted > 0;
	if (wanted > 0) {
		memset(result, 0, sizeof(*result));
		result->algorithm = 1;
		result->time = 0.01f;
		result->determinism = 1;
	}
	return CUDNN_OK;
}

static int one(int *count)
{
	*count = 1;
	return CUDNN_OK;
}

/* The five descriptors before them say what is convolved. */
#define GET(name)                                                                               \
	SIM_EXPORT int name(void *handle, void *first, void *second, void *third, void *fourth, \
			    int wanted, int *count, struct performance *result)                 \
	{                                                                                       \
		(void)handle;                                                                   \
		(void)first;                                                                    \
		(void)second;                                                                   \
		(void)third;                                                                    \
		(void)fourth;                                                                   \
		return one_result(wanted, count, result);                                       \
	}

#define FIND(name)                                                                           \
	SIM_EXPORT int name(void *handle, void *first, void *a, void *second, void *b,       \
			    void *convolution, void *third, void *c, int wanted, int *count, \
			    struct performance *result)                                      \
	{                                                                                    \
		(void)handle;                                                                \
		(void)first;                                                                 \
		(void)a;                                                                     \
		(void)second;                                                                \
		(void)b;                                                                     \
		(void)convolution;                                                           \
		(void)third;                                                                 \
		(void)c;                                                                     \
		return one_result(wanted, count, result);                                    \
	}

GET(cudnnGetConvolutionForwardAlgorithm_v7)
GET(cudnnGetConvolutionBackwardDataAlgorithm_v7)
GET(cudnnGetConvolutionBackwardFilterAlgorithm_v7)
FIND(cudnnFindConvolutionForwardAlgorithmEx)
FIND(cudnnFindConvolutionBackwardDataAlgorithmEx)
FIND(cudnnFindConvolutionBackwardFilterAlgorithmEx)

SIM_EXPORT int cudnnGetConvolutionForwardAlgorithmMaxCount(void *handle, int *count)
{
	(void)handle;
	return one(count);
}

SIM_EXPORT int cudnnGetConvolutionBackwardDataAlgorithmMaxCount(void *handle, int *count)
{
	(void)handle;
	return one(count);
}

SIM_EXPORT int cudnnGetConvolutionBackwardFilterAlgorithmMaxCount(void *handle, int *count)
{
	(void)handle;
	return one(count);
}
