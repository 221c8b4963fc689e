#include "tracer/native_loader.h"

#include <pthread.h>

#include "tracer/hot.h"

#include "tracer/banned.h"

static pthread_mutex_t loader_lock = PTHREAD_MUTEX_INITIALIZER; /* its place is in tracer.h */

/* Written under loader_lock. */
HOT_DATA _Atomic(unsigned long long) native_loader_seen;

struct walk {
	int (*visit)(struct dl_phdr_info *info, size_t size, void *data);
	void *data;
};

/* Every object comes with the loader's counters. */
static int visit_object(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct walk *walk = data;

	if (native_loader_unloads() != info->dlpi_subs)
		atomic_store_explicit(&native_loader_seen, info->dlpi_subs, memory_order_release);
	return walk->visit(info, size, walk->data);
}

int native_loader_walk(int (*visit)(struct dl_phdr_info *info, size_t size, void *data), void *data)
{
	struct walk walk = {visit, data};
	int result;

	pthread_mutex_lock(&loader_lock);
	result = dl_iterate_phdr(visit_object, &walk);
	pthread_mutex_unlock(&loader_lock);
	return result;
}

static int end_at_first(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)info;
	(void)size;
	(void)data;
	return 1;
}

void native_loader_look(void)
{
	native_loader_walk(end_at_first, NULL);
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
