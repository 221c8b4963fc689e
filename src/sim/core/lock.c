#include "sim/core/lock.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void gpusim_lock(void)
{
	pthread_mutex_lock(&lock);
}

void gpusim_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void survive_fork(void)
{
	pthread_atfork(gpusim_lock, gpusim_unlock, gpusim_unlock);
}
