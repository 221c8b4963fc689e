#include "tracer/graphs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "tracer/banned.h"

enum {
	KNOWN = 128 /* graphs and executables with steps */
};

static pthread_mutex_t graphs_lock = PTHREAD_MUTEX_INITIALIZER;

/* Read without the lock, to be quick where no graph has a step. */
static _Atomic(uint32_t) capturing;
static _Atomic(uint32_t) known_count;

/* All guarded by graphs_lock. */
static struct graphs_steps captured; /* of the capture under way */
static struct known {
	const void *object; /* a graph or an executable; never looked into */
	struct graphs_steps steps;
} known[KNOWN];
static uint32_t next; /* the oldest entry, once all are in use */

void graphs_forget(void)
{
	pthread_mutex_init(&graphs_lock, NULL);
	atomic_store(&capturing, 0);
}

/* Caller holds graphs_lock. */
static struct known *find(const void *object)
{
	uint32_t count = atomic_load(&known_count);

	for (uint32_t i = 0; i < count; i++)
		if (known[i].object == object)
			return &known[i];
	return NULL;
}

/* Caller holds graphs_lock.  Objects' addresses are used again: what was known is replaced. */
static void remember(const void *object, const struct graphs_steps *steps)
{
	struct known *entry = find(object);
	uint32_t count = atomic_load(&known_count);

	if (!entry && !steps->count && !steps->backwards)
		return;
	if (!entry && count < KNOWN) {
		entry = &known[count];
		atomic_store(&known_count, count + 1);
	} else if (!entry) {
		entry = &known[next];
		next = (next + 1) % KNOWN;
	}
	entry->object = object;
	entry->steps = *steps;
}

void graphs_capture_begins(void)
{
	pthread_mutex_lock(&graphs_lock);
	if (atomic_fetch_add(&capturing, 1) == 0)
		captured.count = captured.backwards = 0;
	pthread_mutex_unlock(&graphs_lock);
}

bool graphs_captured(uint64_t optimizer)
{
	if (!atomic_load(&capturing))
		return false;
	pthread_mutex_lock(&graphs_lock);
	if (captured.count < GRAPHS_STEPS)
		captured.optimizers[captured.count++] = optimizer;
	pthread_mutex_unlock(&graphs_lock);
	return true;
}

bool graphs_captured_backward(void)
{
	if (!atomic_load(&capturing))
		return false;
	pthread_mutex_lock(&graphs_lock);
	captured.backwards++;
	pthread_mutex_unlock(&graphs_lock);
	return true;
}

void graphs_capture_ends(const void *graph)
{
	pthread_mutex_lock(&graphs_lock);
	if (atomic_load(&capturing) > 0)
		atomic_fetch_sub(&capturing, 1);
	if (graph)
		remember(graph, &captured);
	captured.count = captured.backwards = 0;
	pthread_mutex_unlock(&graphs_lock);
}

void graphs_instantiated(const void *executable, const void *graph)
{
	static const struct graphs_steps none = {.count = 0};
	const struct known *entry;

	if (!atomic_load(&known_count))
		return;
	pthread_mutex_lock(&graphs_lock);
	entry = find(graph);
	remember(executable, entry ? &entry->steps : &none);
	pthread_mutex_unlock(&graphs_lock);
}

bool graphs_find(const void *executable, struct graphs_steps *steps)
{
	const struct known *entry;

	*steps = (struct graphs_steps){.count = 0};
	if (!atomic_load(&known_count))
		return false;
	pthread_mutex_lock(&graphs_lock);
	entry = find(executable);
	if (entry)
		*steps = entry->steps;
	pthread_mutex_unlock(&graphs_lock);
	return steps->count > 0 || steps->backwards > 0;
}
