/*
 * Watches the heap: after the first call no hook may use it.  All of malloc's family is
 * ours here, and exported, so that the preloaded tracer would use it, too.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuleak/gpuleak.h"

#include "fake.h"
#include "site_stack.h"

#pragma weak gpuleak_step
#pragma weak gpuleak_mark
#pragma weak gpuleak_pause
#pragma weak gpuleak_resume

enum {
	ARENA = 32 << 20,
	ALIGNMENT = 64,
};

static _Alignas(ALIGNMENT) uint8_t arena[ARENA];
static atomic_size_t used;
static atomic_uint calls;
static _Thread_local bool watching;

/* Never given back.  The size is kept before the block. */
static void *take(size_t size)
{
	size_t whole = (size + 2 * ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	size_t at = atomic_fetch_add(&used, whole);

	calls += watching;
	if (size > ARENA || at + whole > ARENA)
		return NULL;
	memcpy(arena + at, &size, sizeof(size));
	return arena + at + ALIGNMENT;
}

FAKE_EXPORT void *malloc(size_t size)
{
	return take(size);
}

FAKE_EXPORT void free(void *block)
{
	calls += watching && block;
}

FAKE_EXPORT void *calloc(size_t count, size_t size)
{
	return take(count * size); /* the arena is zeros */
}

FAKE_EXPORT void *realloc(void *block, size_t size)
{
	size_t old = 0;
	void *larger = take(size);

	if (block)
		memcpy(&old, (uint8_t *)block - ALIGNMENT, sizeof(old));
	if (larger && old)
		memcpy(larger, block, old < size ? old : size);
	return larger;
}

FAKE_EXPORT void *memalign(size_t alignment, size_t size)
{
	return alignment <= ALIGNMENT ? take(size) : NULL;
}

FAKE_EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

FAKE_EXPORT int posix_memalign(void **block, size_t alignment, size_t size)
{
	*block = memalign(alignment, size);
	return *block ? 0 : 12;
}

static unsigned failures;

static void watched(const char *what, void (*act)(void))
{
	calls = 0;
	watching = true;
	act();
	watching = false;
	if (!calls)
		return;
	printf("%s: %u calls of the heap\n", what, calls);
	failures++;
}

static void one_block(void *unused)
{
	uint64_t block = fake_alloc(0, 512);

	(void)unused;
	fake_free_at(0, block, 512);
}

static void again(void)
{
	site_call(7, one_block, NULL);
}

static void new_stack(void)
{
	site_call(0x123, one_block, NULL);
}

static void keep(void *unused)
{
	(void)unused;
	fake_alloc(0, 512);
}

/* Enough for every table to grow. */
static void many_stacks(void)
{
	for (uint32_t i = 0; i < 3000; i++)
		site_call(i, keep, NULL);
}

static void new_device(void)
{
	fake_alloc(2, 512);
}

static void runtime(void)
{
	void *block = NULL;
	int count;

	cudaGetDeviceCount(&count);
	cudaSetDevice(1);
	cudaMalloc(&block, 4096);
	cudaFree(block);
}

static void out_of_memory(void)
{
	fake_out_of_memory(0, 1 << 30);
}

static void steps(void)
{
	for (unsigned i = 0; gpuleak_step && i < 300; i++) {
		gpuleak_step();
		again();
	}
}

static void phases(void)
{
	if (!gpuleak_mark)
		return;
	gpuleak_mark("train");
	gpuleak_mark("eval");
	gpuleak_pause();
	again();
	gpuleak_resume();
}

/* A thread may take memory for itself at its first event, not later. */
static void *in_thread(void *unused)
{
	(void)unused;
	again();
	watched("a thread's second event", again);
	watched("a thread's new stack", new_stack);
	return NULL;
}

static void take_some(void)
{
	void *volatile block = malloc(10);

	free(block);
}

int main(void)
{
	pthread_t thread;

	watched("the watch", take_some);
	if (failures != 1) {
		printf("the watch sees nothing\n");
		return 1;
	}
	failures = 0;
	again(); /* sets things up */
	watched("the same stack", again);
	watched("a new stack", new_stack);
	watched("many stacks", many_stacks);
	watched("a new device", new_device);
	watched("the runtime's functions", runtime);
	watched("out of memory", out_of_memory);
	watched("steps", steps);
	watched("phases and pauses", phases);
	if (pthread_create(&thread, NULL, in_thread, NULL) != 0)
		return 1;
	pthread_join(thread, NULL);
	printf("%u failures\n", failures);
	return failures ? 1 : 0;
}
