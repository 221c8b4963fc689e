#ifndef SIM_CORE_THREAD_H
#define SIM_CORE_THREAD_H

#include <stddef.h>

#include "sim/core/api.h"

enum {
	GPUSIM_CONFIGS = 16,
	GPUSIM_CONTEXTS = 16
};

/* A launch as `kernel<<<...>>>` pushes it for its stub to pop. */
struct gpusim_launch {
	unsigned grid[3], block[3];
	size_t shared;
	void *stream;
};

/* What CUDA keeps for each thread. */
struct gpusim_thread {
	int device;
	int last_error;
	int capture_mode;
	int launch_depth;
	struct gpusim_launch launches[GPUSIM_CONFIGS];
	int context_depth; /* the driver's stack of contexts: devices */
	int contexts[GPUSIM_CONTEXTS];
	char *stack_low, *stack_high; /* NULL: not asked for yet */
};

/* The calling thread's own.  Never NULL. */
SIM_EXPORT struct gpusim_thread *gpusim_thread(void);

/* The bounds of the calling thread's stack. */
void gpusim_thread_stack(struct gpusim_thread *thread);

/* Remember a failure for cudaGetLastError(), and return it. */
static inline int gpusim_result(int error)
{
	if (error)
		gpusim_thread()->last_error = error;
	return error;
}

#endif
