/*
 * Calls each hook once with odd arguments and says what came out of it: the real
 * function's result, the arguments that reached it, and errno as it was left.
 *
 * Usage: passing calls   every hook, succeeding and failing
 *        passing devices a device beyond those a trace has room for
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gpuleak/gpuleak.h"

#include "fake.h"

#pragma weak gpuleak_step
#pragma weak gpuleak_mark
#pragma weak gpuleak_pause
#pragma weak gpuleak_resume

enum {
	ERRNO_BEFORE = 4001, /* no system call sets it */
	ERRNO_WITHIN = 4002, /* the real functions do */
	ERRNO_SPOILT = 4003,
};

static unsigned failures;
static struct fake_calls c10, cudart;

static void set_errno(void)
{
	errno = ERRNO_WITHIN;
}

/* In a function that only the tracer calls. */
static void spoil_errno(void)
{
	errno = ERRNO_SPOILT;
}

static void check(const char *what, bool good)
{
	if (good)
		return;
	printf("wrong: %s\n", what);
	failures++;
}

/* Both libraries got just what is expected, and errno is what they left there. */
static void check_call(const char *what)
{
	int after = errno;
	struct fake_calls of_c10 = fake_c10_calls(), of_cudart = fake_cudart_calls();

	check(what, c10.count == of_c10.count && c10.digest == of_c10.digest);
	check(what, cudart.count == of_cudart.count && cudart.digest == of_cudart.digest);
	check(what, after == ERRNO_WITHIN);
	errno = ERRNO_BEFORE;
}

static void report(void *ptr, int64_t size, uint64_t allocated, uint64_t reserved,
		   struct fake_device device)
{
	uint64_t number = (uint64_t)(uint8_t)device.type << 8 | (uint8_t)device.index;

	fake_report(ptr, size, allocated, reserved, device);
	fake_calls_add(&c10, "rm", (uintptr_t)ptr ^ number << 48, (uint64_t)size, allocated,
		       reserved);
	check_call("report");
	fake_report_signed(ptr, size, (int64_t)allocated, (int64_t)reserved, device);
	fake_calls_add(&c10, "rs", (uintptr_t)ptr ^ number << 48, (uint64_t)size, allocated,
		       reserved);
	check_call("signed report");
	fake_report_old(ptr, size, device);
	fake_calls_add(&c10, "ro", (uintptr_t)ptr ^ number << 48, (uint64_t)size, 0, 0);
	check_call("old report");
	fake_oom(size, allocated, reserved, device);
	fake_calls_add(&c10, "om", number, (uint64_t)size, allocated, reserved);
	check_call("out of memory");
	fake_oom_signed(size, (int64_t)allocated, (int64_t)reserved, device);
	fake_calls_add(&c10, "os", number, (uint64_t)size, allocated, reserved);
	check_call("signed out of memory");
}

static void all_reports(void)
{
	static char block[4];

	report(block, 512, 512, 2 << 20, (struct fake_device){FAKE_CUDA, 0});
	report(block, -512, 0, 2 << 20, (struct fake_device){FAKE_CUDA, 0});
	report(block, 0, 0, 0, (struct fake_device){FAKE_CUDA, 0});
	report(NULL, INT64_MAX, UINT64_MAX, UINT64_MAX, (struct fake_device){FAKE_CUDA, 1});
	report(NULL, INT64_MIN, 1, UINT64_MAX, (struct fake_device){FAKE_CUDA, 1});
	report(block, 64, 7, 8, (struct fake_device){FAKE_CPU, 0});
	report(block, 64, 7, 8, (struct fake_device){FAKE_CUDA, -1});
	report(block, 64, 7, 8, (struct fake_device){FAKE_CUDA, 100});
	report(block, 64, 7, 8, (struct fake_device){-1, -1});
}

static void runtime_calls(int error)
{
	void *block = &block;
	int count = -1;
	int got;

	fake_cudart_error = error;
	got = cudaGetDeviceCount(&count);
	fake_calls_add(&cudart, "cc", (uintptr_t)&count, 0, 0, 0);
	check_call("cudaGetDeviceCount");
	check("its result", got == error && count == (error ? -1 : FAKE_DEVICES));
	got = cudaSetDevice(error ? 7 : 0);
	fake_calls_add(&cudart, "cs", error ? 7 : 0, 0, 0, 0);
	check_call("cudaSetDevice");
	check("its result", got == error);
	fake_cudart_next = 0x4000;
	got = cudaMalloc(&block, 12345);
	fake_calls_add(&cudart, "cm", (uintptr_t)&block, 12345, 0, 0);
	check_call("cudaMalloc");
	check("its result", got == error && block == (error ? (void *)&block : (void *)0x4000));
	got = cudaFree((void *)0x4000);
	fake_calls_add(&cudart, "cf", 0x4000, 0, 0, 0);
	check_call("cudaFree");
	check("its result", got == error);
	got = cudaFree(NULL);
	fake_calls_add(&cudart, "cf", 0, 0, 0, 0);
	check_call("cudaFree of nothing");
	check("its result", got == error);
}

static void graph_calls(int error)
{
	void *const stream = (void *)0x11, *const from = (void *)0x22, *const edges = (void *)0x33;
	void *graph = NULL, *executable = NULL;
	int got;

	fake_cudart_error = error;
	got = cudaStreamBeginCapture(stream, 2);
	fake_calls_add(&cudart, "gb", 0x11, 2, 0, 0);
	check_call("cudaStreamBeginCapture");
	check("its result", got == error);
	got = cudaStreamBeginCaptureToGraph(stream, (void *)0x6000, from, edges, 5, 1);
	fake_calls_add(&cudart, "gt", 0x11 ^ 0x600000 ^ 0x220000, 0x33 ^ 0x500 ^ 0x10000, 0, 0);
	check_call("cudaStreamBeginCaptureToGraph");
	check("its result", got == error);
	got = cudaStreamEndCapture(stream, &graph);
	fake_calls_add(&cudart, "ge", 0x11, (uintptr_t)&graph, 0, 0);
	check_call("cudaStreamEndCapture");
	check("its result", got == error && graph == (error ? NULL : (void *)0x6000));
	got = cudaGraphInstantiate(&executable, (void *)0x6000, from, edges, 7);
	fake_calls_add(&cudart, "gi", (uintptr_t)&executable ^ 0x600000, 0x22 ^ 0x3300 ^ 0x70000, 0,
		       0);
	check_call("cudaGraphInstantiate");
	check("its result", got == error && executable == (error ? NULL : (void *)0x7000));
	got = cudaGraphInstantiateWithFlags(&executable, (void *)0x6000, 9);
	fake_calls_add(&cudart, "gf", (uintptr_t)&executable ^ 0x600000, 9, 0, 0);
	check_call("cudaGraphInstantiateWithFlags");
	check("its result", got == error);
	got = cudaGraphLaunch((void *)0x7000, stream);
	fake_calls_add(&cudart, "gl", 0x7000, 0x11, 0, 0);
	check_call("cudaGraphLaunch");
	check("its result", got == error);
}

static void host_calls(int error)
{
	size_t free_bytes = 1, total = 2;
	void *block = &block;
	int got;

	fake_cudart_error = error;
	got = cudaMemGetInfo(&free_bytes, &total);
	fake_calls_add(&cudart, "mi", (uintptr_t)&free_bytes, (uintptr_t)&total, 0, 0);
	check_call("cudaMemGetInfo");
	check("its result", got == error && free_bytes == (error ? 1 : 3 << 20));
	fake_cudart_next = 0x5000;
	got = cudaHostAlloc(&block, 777, 3);
	fake_calls_add(&cudart, "ha", (uintptr_t)&block ^ 3ull << 56, 777, 0, 0);
	check_call("cudaHostAlloc");
	check("its result", got == error && block == (error ? (void *)&block : (void *)0x5000));
	got = cudaMallocHost(&block, 888);
	fake_calls_add(&cudart, "hm", (uintptr_t)&block, 888, 0, 0);
	check_call("cudaMallocHost");
	check("its result", got == error);
	got = cudaFreeHost((void *)0x5000);
	fake_calls_add(&cudart, "hf", 0x5000, 0, 0, 0);
	check_call("cudaFreeHost");
	check("its result", got == error);
	got = cudaHostRegister((void *)0x9000, 4096, 1);
	fake_calls_add(&cudart, "hr", 0x9000 ^ 1ull << 56, 4096, 0, 0);
	check_call("cudaHostRegister");
	check("its result", got == error);
	got = cudaHostUnregister((void *)0x9000);
	fake_calls_add(&cudart, "hu", 0x9000, 0, 0, 0);
	check_call("cudaHostUnregister");
	check("its result", got == error);
	fake_cudart_next = 0;
}

static void calls_that_use(int error)
{
	struct fake_calls cublas = fake_cublas_calls(), of_cublas;
	int got;

	fake_cudart_error = error;
	for (int kind = 0; kind < 5; kind++) {
		got = cudaMemcpyAsync((void *)0x7000, (void *)0x55, 4096, kind, (void *)0x11);
		fake_calls_add(&cudart, "ma", 0x7000 ^ 0x5500 ^ (uint64_t)kind << 56,
			       4096 ^ 0x110000, 0, 0);
		check_call("cudaMemcpyAsync");
		check("its result", got == error);
	}
	for (int i = 0; i < 2; i++) {
		errno = ERRNO_WITHIN;
		got = cublasSetWorkspace_v2((void *)0x44, (void *)0x7000, 8 << 20);
		fake_calls_add(&cublas, "bw", 0x44, 0x7000, 8 << 20, 0);
		check_call("cublasSetWorkspace_v2");
		of_cublas = fake_cublas_calls();
		check("its arguments",
		      cublas.count == of_cublas.count && cublas.digest == of_cublas.digest);
		check("its result", got == 13);
	}
}

static void backward_passes(void)
{
	void *const engine = (void *)0x44, *const roots = (void *)0x55,
		    *const inputs = (void *)0x66, *const outputs = (void *)0x77;
	struct fake_calls torch = fake_torch_calls(), of_torch;

	for (uint64_t flags = 0; flags < 8; flags++) {
		struct fake_variables got = fake_execute(engine, roots, inputs, flags & 1,
							 flags & 2, flags & 4, outputs);

		check_call("a backward pass");
		fake_calls_add(&torch, "ex", 0x44, 0x55 ^ 0x6600, flags, 0x77);
		of_torch = fake_torch_calls();
		check("its arguments",
		      torch.count == of_torch.count && torch.digest == of_torch.digest);
		check("its result",
		      got.words[0] == engine && got.words[2] &&
			      got.words[1] == (torch.count % 2 ? NULL : got.words[2]));
	}
}

static void threads_of_autograd(void)
{
	struct fake_calls torch = fake_torch_calls(), of_torch;

	for (int device = 0; device < 2; device++) {
		fake_thread_init((void *)0x44, device, (void *)0x55, device);
		check_call("a thread of autograd");
		fake_calls_add(&torch, "ti", 0x44, (uint64_t)device, 0x55, (uint64_t)device);
		of_torch = fake_torch_calls();
		check("its arguments",
		      torch.count == of_torch.count && torch.digest == of_torch.digest);
	}
}

static void loader_calls(void)
{
	void *itself = dlopen(NULL, RTLD_NOW);
	int got;

	errno = ERRNO_WITHIN;
	got = dlclose(itself);
	check_call("dlclose");
	check("its result", itself && got == 0);
}

static void our_calls(void)
{
	if (!gpuleak_step)
		return;
	errno = ERRNO_WITHIN;
	gpuleak_step();
	check_call("gpuleak_step");
	errno = ERRNO_WITHIN;
	gpuleak_mark("a phase");
	check_call("gpuleak_mark");
	errno = ERRNO_WITHIN;
	gpuleak_mark(NULL);
	check_call("gpuleak_mark of nothing");
	errno = ERRNO_WITHIN;
	gpuleak_pause();
	check_call("gpuleak_pause");
	errno = ERRNO_WITHIN;
	gpuleak_resume();
	check_call("gpuleak_resume");
}

static int calls(void)
{
	fake_c10_during = set_errno;
	fake_cudart_during = set_errno;
	fake_torch_asked = spoil_errno;
	errno = ERRNO_BEFORE;
	for (unsigned i = 0; i < 3; i++) {
		our_calls(); /* the first time before anything is recorded */
		runtime_calls(i % 2 ? 2 : 0);
		graph_calls(i % 2 ? 2 : 0);
		host_calls(i % 2 ? 2 : 0);
		calls_that_use(i % 2 ? 2 : 0);
		backward_passes();
		threads_of_autograd();
		loader_calls();
		all_reports();
	}
	printf("%u wrong, %llu and %llu calls\n", failures, (unsigned long long)c10.count,
	       (unsigned long long)cudart.count);
	return failures ? 1 : 0;
}

/* Prints how many events nobody can record. */
static int devices(void)
{
	for (int device = 15; device < 20; device++) {
		fake_report((void *)0x4000, 512, 512, 0,
			    (struct fake_device){FAKE_CUDA, (int8_t)device});
		cudaSetDevice(device);
		fake_cudart_next = 0x8000 + (uint64_t)device;
		cudaMalloc(&(void *){NULL}, 64);
	}
	if (gpuleak_step)
		gpuleak_step();
	printf("%d\n", 2 * 4);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "calls") == 0)
		return calls();
	if (argc == 2 && strcmp(argv[1], "devices") == 0)
		return devices();
	fprintf(stderr, "passing: calls or devices?\n");
	return 2;
}
