#include <pthread.h>

#include "fake.h"

void (*fake_c10_during)(void);
bool fake_c10_quiet;

static struct fake_calls calls;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards `calls` */

static void called(const char *function, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	if (fake_c10_quiet)
		return;
	pthread_mutex_lock(&lock);
	fake_calls_add(&calls, function, a, b, c, d);
	pthread_mutex_unlock(&lock);
	if (fake_c10_during)
		fake_c10_during();
}

static uint64_t number(struct fake_device device)
{
	return (uint64_t)(uint8_t)device.type << 8 | (uint8_t)device.index;
}

struct fake_calls fake_c10_calls(void)
{
	return calls;
}

void fake_report(void *ptr, int64_t size, uint64_t allocated, uint64_t reserved,
		 struct fake_device device)
{
	called("rm", (uintptr_t)ptr ^ number(device) << 48, (uint64_t)size, allocated, reserved);
}

void fake_report_signed(void *ptr, int64_t size, int64_t allocated, int64_t reserved,
			struct fake_device device)
{
	called("rs", (uintptr_t)ptr ^ number(device) << 48, (uint64_t)size, (uint64_t)allocated,
	       (uint64_t)reserved);
}

void fake_report_old(void *ptr, int64_t size, struct fake_device device)
{
	called("ro", (uintptr_t)ptr ^ number(device) << 48, (uint64_t)size, 0, 0);
}

void fake_oom(int64_t size, uint64_t allocated, uint64_t reserved, struct fake_device device)
{
	called("om", number(device), (uint64_t)size, allocated, reserved);
}

void fake_oom_signed(int64_t size, int64_t allocated, int64_t reserved, struct fake_device device)
{
	called("os", number(device), (uint64_t)size, (uint64_t)allocated, (uint64_t)reserved);
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
