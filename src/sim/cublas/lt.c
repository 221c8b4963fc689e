/* cuBLASLt: one algorithm that needs no workspace.  Descriptors come from lists/cublaslt.txt. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "sim/standin.h"

enum {
	VERSION = SIM_MAJOR == 12 ? 120800 : 130200
};

/* cublasLtMatmulHeuristicResult_t. */
struct heuristic {
	uint64_t algorithm[8];
	size_t workspace_size;
	int state;
	float waves;
	int reserved[4];
};
_Static_assert(sizeof(struct heuristic) == 96, "CUDA's size");

SIM_EXPORT size_t cublasLtGetVersion(void)
{
	return VERSION;
}

SIM_EXPORT int cublasLtMatmulAlgoGetHeuristic(void *handle, void *operation, void *a, void *b,
					      void *c, void *d, void *preference, int wanted,
					      struct heuristic *results, int *count)
{
	(void)handle;
	(void)operation;
	(void)a;
	(void)b;
	(void)c;
	(void)d;
	(void)preference;
	*count = wanted > 0;
	if (wanted > 0) {
		memset(results, 0, sizeof(*results));
		results->waves = 1;
	}
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cublasLtMatmulAlgoCheck(void *handle, void *operation, void *a, void *b, void *c,
				       void *d, void *algorithm, struct heuristic *result)
{
	(void)algorithm;
	int count;

	return cublasLtMatmulAlgoGetHeuristic(handle, operation, a, b, c, d, NULL, 1, result,
					      &count);
}
