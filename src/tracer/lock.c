#include "tracer/lock.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tracer/banned.h"

enum {
	LOOKS = 100,	/* some microseconds: longer than nearly all that is done within */
	NAP_NS = 20000, /* some more with the kernel's own slack */
};

static inline void pause_processor(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#else
	__asm__ volatile("" ::: "memory");
#endif
}

static bool look(const struct lock *lock)
{
	for (unsigned i = 0; i < LOOKS; i++) {
		if (!__atomic_load_n(&lock->taken, __ATOMIC_RELAXED))
			return true;
		pause_processor();
	}
	return false;
}

__attribute__((cold, noinline)) void lock_wait(struct lock *lock)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};
	int saved = errno;

	do {
		if (!look(lock))
			syscall(SYS_nanosleep, &nap, NULL); /* no point of cancellation */
	} while (!lock_try(lock));
	errno = saved;
}
