#include "sim/core/thread.h"

#include <pthread.h>
#include <stdbool.h>

#include "sim/core/farewell.h"

static _Thread_local struct gpusim_thread self = {.device = -1};

struct gpusim_thread *gpusim_thread(void)
{
	if (self.device < 0) {
		self.device = 0;
		gpusim_farewell_watch();
	}
	return &self;
}

void gpusim_thread_stack(struct gpusim_thread *thread)
{
	pthread_attr_t attributes;
	void *low = NULL;
	size_t size = 0;

	if (thread->stack_high || pthread_getattr_np(pthread_self(), &attributes))
		return;
	if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
		thread->stack_low = low;
		thread->stack_high = (char *)low + size;
	}
	pthread_attr_destroy(&attributes);
}
