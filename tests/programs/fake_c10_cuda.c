#include <pthread.h>

#include "fake.h"

enum {
	SEGMENT = 2 << 20 /* bytes */
};

/* One device; its mutex guards all of it and is held while the hooks are called. */
static struct allocator {
	pthread_mutex_t mutex;
	uint64_t allocated;
	uint64_t reserved;
	uint64_t next; /* a fresh address within the last segment */
	uint64_t left; /* bytes of it */
} __attribute__((aligned(256))) allocators[FAKE_DEVICES] = {
	[0 ... FAKE_DEVICES - 1] = {.mutex = PTHREAD_MUTEX_INITIALIZER},
};

static struct fake_device cuda(int device)
{
	return (struct fake_device){FAKE_CUDA, (int8_t)device};
}

static struct allocator *lock(int device)
{
	struct allocator *allocator = &allocators[device];

	pthread_mutex_lock(&allocator->mutex);
	return allocator;
}

static void unlock(struct allocator *allocator)
{
	pthread_mutex_unlock(&allocator->mutex);
}

/* Caller holds the mutex. */
static void report(struct allocator *allocator, int device, uint64_t address, int64_t size)
{
	allocator->allocated += (uint64_t)size;
	fake_report((void *)(uintptr_t)address, size, allocator->allocated, allocator->reserved,
		    cuda(device));
}

void fake_alloc_at(int device, uint64_t address, uint64_t size)
{
	struct allocator *allocator = lock(device);

	report(allocator, device, address, (int64_t)size);
	unlock(allocator);
}

void fake_free_at(int device, uint64_t address, uint64_t size)
{
	struct allocator *allocator = lock(device);

	report(allocator, device, address, -(int64_t)size);
	unlock(allocator);
}

/* Caller holds the mutex. */
static bool take_segment(struct allocator *allocator, int device, uint64_t size)
{
	void *segment = NULL;

	cudaSetDevice(device);
	if (cudaMalloc(&segment, size) != 0)
		return false;
	allocator->reserved += size;
	allocator->next = (uintptr_t)segment;
	allocator->left = size;
	return true;
}

uint64_t fake_alloc(int device, uint64_t size)
{
	struct allocator *allocator = lock(device);
	uint64_t needed = (size + 511) / 512 * 512;
	uint64_t address = 0;

	if (needed <= allocator->left ||
	    take_segment(allocator, device, needed > SEGMENT ? needed : SEGMENT)) {
		address = allocator->next;
		allocator->next += needed;
		allocator->left -= needed;
		report(allocator, device, address, (int64_t)size);
	}
	unlock(allocator);
	return address;
}

void fake_segment(int device, uint64_t address, uint64_t size)
{
	struct allocator *allocator = lock(device);

	fake_cudart_next = address;
	take_segment(allocator, device, size);
	unlock(allocator);
}

void fake_give_segment(int device, uint64_t address, uint64_t size)
{
	struct allocator *allocator = lock(device);

	cudaFree((void *)(uintptr_t)address);
	allocator->reserved -= size;
	unlock(allocator);
}

void fake_out_of_memory(int device, uint64_t size)
{
	struct allocator *allocator = lock(device);

	fake_oom((int64_t)size, allocator->allocated, allocator->reserved, cuda(device));
	unlock(allocator);
}

void fake_set_reserved(int device, uint64_t reserved)
{
	struct allocator *allocator = lock(device);

	allocator->reserved = reserved;
	unlock(allocator);
}

uint64_t fake_allocated(int device)
{
	return allocators[device].allocated;
}

uint64_t fake_reserved(int device)
{
	return allocators[device].reserved;
}

/* The tests fork while other threads are in here. */
static void after_fork(void)
{
	for (int i = 0; i < FAKE_DEVICES; i++)
		pthread_mutex_init(&allocators[i].mutex, NULL);
}

__attribute__((constructor)) static void begin(void)
{
	pthread_atfork(NULL, NULL, after_fork);
}
