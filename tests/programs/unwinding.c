/*
 * Leaves the hooks by other ways than return: longjmp() out of each real function.
 * What comes later in the same thread must be recorded as before.
 */
#include <setjmp.h>
#include <stdio.h>

#include "gpuleak/gpuleak.h"

#include "fake.h"

#pragma weak gpuleak_step

static jmp_buf back;
static unsigned jumps;

static void jump(void)
{
	longjmp(back, 1);
}

static void call_malloc(void)
{
	cudaMalloc(&(void *){NULL}, 64);
}

static void call_free(void)
{
	cudaFree((void *)0x7000);
}

static void call_set_device(void)
{
	cudaSetDevice(0);
}

static void call_count(void)
{
	cudaGetDeviceCount(&(int){0});
}

static void call_report(void)
{
	fake_report((void *)0x9000, 512, fake_allocated(0) + 512, 0,
		    (struct fake_device){FAKE_CUDA, 0});
}

static void call_oom(void)
{
	fake_oom(1 << 30, fake_allocated(0), 0, (struct fake_device){FAKE_CUDA, 0});
}

static void leave(void (*call)(void))
{
	fake_cudart_during = fake_c10_during = jump;
	if (setjmp(back) == 0)
		call();
	else
		jumps++;
	fake_cudart_during = fake_c10_during = NULL;
}

int main(void)
{
	void (*const calls[])(void) = {call_malloc, call_free,	 call_set_device,
				       call_count,  call_report, call_oom};

	for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		leave(calls[i]);
		fake_alloc(0, 512);
		if (gpuleak_step)
			gpuleak_step();
	}
	printf("%u jumps\n", jumps);
	return 0;
}
