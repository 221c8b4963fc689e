#include <pthread.h>

#include "fake.h"

void (*fake_cudart_during)(void);
int fake_cudart_error;
__thread uint64_t fake_cudart_next;

static struct fake_calls calls;
static uint64_t fresh = 0x7e0000000000;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards `calls` and `fresh` */

static int called(const char *function, uint64_t a, uint64_t b)
{
	pthread_mutex_lock(&lock);
	fake_calls_add(&calls, function, a, b, 0, 0);
	pthread_mutex_unlock(&lock);
	if (fake_cudart_during)
		fake_cudart_during();
	return fake_cudart_error;
}

struct fake_calls fake_cudart_calls(void)
{
	return calls;
}

static uint64_t choose(size_t size)
{
	uint64_t address = fake_cudart_next;

	fake_cudart_next = 0;
	if (address)
		return address;
	pthread_mutex_lock(&lock);
	address = fresh;
	fresh += (size + 511) / 512 * 512;
	pthread_mutex_unlock(&lock);
	return address;
}

int cudaMalloc(void **ptr, size_t size)
{
	int error = called("cm", (uintptr_t)ptr, size);

	if (!error)
		*ptr = (void *)(uintptr_t)choose(size);
	return error;
}

int cudaFree(void *ptr)
{
	return called("cf", (uintptr_t)ptr, 0);
}

int cudaSetDevice(int device)
{
	return called("cs", (uint64_t)device, 0);
}

int cudaGetDeviceCount(int *count)
{
	int error = called("cc", (uintptr_t)count, 0);

	if (!error)
		*count = FAKE_DEVICES;
	return error;
}

int cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
	int error = called("mi", (uintptr_t)free_bytes, (uintptr_t)total);

	if (!error) {
		*free_bytes = 3 << 20;
		*total = 8 << 20;
	}
	return error;
}

int cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, void *stream)
{
	return called("ma", (uintptr_t)to ^ (uintptr_t)from << 8 ^ (uint64_t)kind << 56,
		      size ^ (uintptr_t)stream << 16);
}

int cudaHostAlloc(void **ptr, size_t size, unsigned flags)
{
	int error = called("ha", (uintptr_t)ptr ^ (uint64_t)flags << 56, size);

	if (!error)
		*ptr = (void *)(uintptr_t)choose(size);
	return error;
}

int cudaMallocHost(void **ptr, size_t size)
{
	int error = called("hm", (uintptr_t)ptr, size);

	if (!error)
		*ptr = (void *)(uintptr_t)choose(size);
	return error;
}

int cudaFreeHost(void *ptr)
{
	return called("hf", (uintptr_t)ptr, 0);
}

int cudaHostRegister(void *ptr, size_t size, unsigned flags)
{
	return called("hr", (uintptr_t)ptr ^ (uint64_t)flags << 56, size);
}

int cudaHostUnregister(void *ptr)
{
	return called("hu", (uintptr_t)ptr, 0);
}

/* Graphs and executables are the numbers 0x6000 and 0x7000. */
int cudaStreamBeginCapture(void *stream, int mode)
{
	return called("gb", (uintptr_t)stream, (uint64_t)mode);
}

int cudaStreamBeginCaptureToGraph(void *stream, void *graph, const void *from, const void *edges,
				  size_t count, int mode)
{
	return called("gt", (uintptr_t)stream ^ (uintptr_t)graph << 8 ^ (uintptr_t)from << 16,
		      (uintptr_t)edges ^ count << 8 ^ (uint64_t)mode << 16);
}

int cudaStreamEndCapture(void *stream, void **graph)
{
	int error = called("ge", (uintptr_t)stream, (uintptr_t)graph);

	*graph = error ? NULL : (void *)0x6000;
	return error;
}

int cudaGraphInstantiate(void **executable, void *graph, void *a, void *b, size_t c)
{
	int error = called("gi", (uintptr_t)executable ^ (uintptr_t)graph << 8,
			   (uintptr_t)a ^ (uintptr_t)b << 8 ^ c << 16);

	if (!error)
		*executable = (void *)0x7000;
	return error;
}

int cudaGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long flags)
{
	int error = called("gf", (uintptr_t)executable ^ (uintptr_t)graph << 8, flags);

	if (!error)
		*executable = (void *)0x7000;
	return error;
}

int cudaGraphLaunch(void *executable, void *stream)
{
	return called("gl", (uintptr_t)executable, (uintptr_t)stream);
}

/* The tests fork while other threads are in here. */
static void after_fork(void)
{
	pthread_mutex_init(&lock, NULL);
}

__attribute__((constructor)) static void begin(void)
{
	pthread_atfork(NULL, NULL, after_fork);
}
