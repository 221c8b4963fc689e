#include "tracer/native_loader.h"

#include <pthread.h>

#include "tracer/banned.h"

static pthread_mutex_t loader_lock = PTHREAD_MUTEX_INITIALIZER; /* its place is in tracer.h */

int native_loader_walk(int (*visit)(struct dl_phdr_info *info, size_t size, void *data), void *data)
{
	int result;

	pthread_mutex_lock(&loader_lock);
	result = dl_iterate_phdr(visit, data);
	pthread_mutex_unlock(&loader_lock);
	return result;
}

void native_loader_fork_begins(void)
{
	pthread_mutex_lock(&loader_lock);
}

void native_loader_fork_ended(void)
{
	pthread_mutex_unlock(&loader_lock);
}

void native_loader_forget(void)
{
	pthread_mutex_init(&loader_lock, NULL);
}
