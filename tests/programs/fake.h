/*
 * Stand-ins for the libraries that the tracer stands between, for programs without
 * PyTorch: libcudart.so.99, libc10.so, libc10_cuda.so and libtorch.so.  They hand out
 * addresses, never memory, and count what reaches them.
 */
#ifndef GPULEAK_TESTS_FAKE_H
#define GPULEAK_TESTS_FAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_EXPORT __attribute__((visibility("default")))

/* c10::Device: two bytes, passed in one register. */
struct fake_device {
	int8_t type;
	int8_t index;
};

enum {
	FAKE_CPU = 0,
	FAKE_CUDA = 1,
	FAKE_DEVICES = 16
};

/* What reached the real functions: how often, and a digest of all arguments in order. */
struct fake_calls {
	uint64_t count;
	uint64_t digest;
};

static inline void fake_calls_add(struct fake_calls *calls, const char *function, uint64_t a,
				  uint64_t b, uint64_t c, uint64_t d)
{
	const uint64_t values[] = {(uint64_t)function[0] << 8 | (uint64_t)function[1], a, b, c, d};

	calls->count++;
	for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		calls->digest = (calls->digest ^ values[i]) * 0x100000001b3ull + 1;
}

/* The names of C++, as libc10 of PyTorch 2.0 and later and of 1.10 to 1.13 has them. */
#define fake_report	   _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE
#define fake_report_signed _ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE
#define fake_report_old	   _ZN3c1027reportMemoryUsageToProfilerEPvlNS_6DeviceE
#define fake_oom	   _ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE
#define fake_oom_signed	   _ZN3c1027reportOutOfMemoryToProfilerElllNS_6DeviceE
#define fake_thread_init \
	_ZN5torch8autograd6Engine11thread_initEiRKSt10shared_ptrINS0_10ReadyQueueEEb
#define fake_graph_task _ZN5torch8autograd25get_current_graph_task_idEv
#define fake_execute \
	_ZN5torch8autograd6Engine7executeERKSt6vectorINS0_4EdgeESaIS3_EERKS2_IN2at6TensorESaIS9_EEbbbS7_

/* libc10.so */
FAKE_EXPORT void fake_report(void *ptr, int64_t size, uint64_t allocated, uint64_t reserved,
			     struct fake_device device);
FAKE_EXPORT void fake_report_signed(void *ptr, int64_t size, int64_t allocated, int64_t reserved,
				    struct fake_device device);
FAKE_EXPORT void fake_report_old(void *ptr, int64_t size, struct fake_device device);
FAKE_EXPORT void fake_oom(int64_t size, uint64_t allocated, uint64_t reserved,
			  struct fake_device device);
FAKE_EXPORT void fake_oom_signed(int64_t size, int64_t allocated, int64_t reserved,
				 struct fake_device device);
FAKE_EXPORT struct fake_calls fake_c10_calls(void);
/* Called from within each real function, if set: to throw, to jump, to set errno. */
FAKE_EXPORT extern void (*fake_c10_during)(void);
/* Count nothing: devices have nothing in common then. */
FAKE_EXPORT extern bool fake_c10_quiet;

/* libtorch.so: autograd's engine. */
struct fake_variables {
	void *words[3];
};

FAKE_EXPORT struct fake_variables fake_execute(void *engine, const void *roots, const void *inputs,
					       bool keep_graph, bool create_graph,
					       bool accumulate_grad, const void *outputs);
FAKE_EXPORT int fake_graph_task(void);
FAKE_EXPORT void fake_thread_init(void *engine, int device, const void *queue, bool counts);
FAKE_EXPORT struct fake_calls fake_torch_calls(void);
/* Called from within fake_graph_task(), if set. */
FAKE_EXPORT extern void (*fake_torch_asked)(void);
/* Called with `roots` from within fake_execute(), and with `engine` from within fake_thread_init().
 */
FAKE_EXPORT extern void (*fake_torch_during)(const void *what);
/* The number of the pass that the calling thread is at work for; -1: none. */
FAKE_EXPORT extern __thread int fake_torch_task;

/* libcudart.so.99; every function returns fake_cudart_error. */
FAKE_EXPORT int cudaMalloc(void **ptr, size_t size);
FAKE_EXPORT int cudaFree(void *ptr);
FAKE_EXPORT int cudaSetDevice(int device);
FAKE_EXPORT int cudaGetDeviceCount(int *count);
FAKE_EXPORT int cudaMemGetInfo(size_t *free_bytes, size_t *total);
FAKE_EXPORT int cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, void *stream);
FAKE_EXPORT int cudaHostAlloc(void **ptr, size_t size, unsigned flags);
FAKE_EXPORT int cudaMallocHost(void **ptr, size_t size);
FAKE_EXPORT int cudaFreeHost(void *ptr);
FAKE_EXPORT int cudaHostRegister(void *ptr, size_t size, unsigned flags);
FAKE_EXPORT int cudaHostUnregister(void *ptr);
FAKE_EXPORT int cudaStreamBeginCapture(void *stream, int mode);
FAKE_EXPORT int cudaStreamBeginCaptureToGraph(void *stream, void *graph, const void *from,
					      const void *edges, size_t count, int mode);
FAKE_EXPORT int cudaStreamEndCapture(void *stream, void **graph);
FAKE_EXPORT int cudaGraphInstantiate(void **executable, void *graph, void *a, void *b, size_t c);
FAKE_EXPORT int cudaGraphInstantiateWithFlags(void **executable, void *graph,
					      unsigned long long flags);
FAKE_EXPORT int cudaGraphLaunch(void *executable, void *stream);
FAKE_EXPORT struct fake_calls fake_cudart_calls(void);
FAKE_EXPORT extern void (*fake_cudart_during)(void);
FAKE_EXPORT extern int fake_cudart_error;
/* The address that the calling thread's next cudaMalloc() gives out; 0: one of its own choice. */
FAKE_EXPORT extern __thread uint64_t fake_cudart_next;

/* libcublas.so.99 */
FAKE_EXPORT int cublasSetWorkspace_v2(void *handle, void *workspace, size_t size);
FAKE_EXPORT struct fake_calls fake_cublas_calls(void);

/*
 * libc10_cuda.so.  As in PyTorch: the totals are the device's, and its mutex is held
 * while segments are taken and blocks reported.
 */
FAKE_EXPORT void fake_alloc_at(int device, uint64_t address, uint64_t size);
FAKE_EXPORT void fake_free_at(int device, uint64_t address, uint64_t size);
/* A block of a fresh address; segments are taken as needed. */
FAKE_EXPORT uint64_t fake_alloc(int device, uint64_t size);
FAKE_EXPORT void fake_segment(int device, uint64_t address, uint64_t size);
FAKE_EXPORT void fake_give_segment(int device, uint64_t address, uint64_t size);
FAKE_EXPORT void fake_out_of_memory(int device, uint64_t size);
FAKE_EXPORT void fake_set_reserved(int device, uint64_t reserved);
FAKE_EXPORT uint64_t fake_allocated(int device);
FAKE_EXPORT uint64_t fake_reserved(int device);

#endif
