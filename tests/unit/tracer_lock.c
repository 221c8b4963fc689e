/* The ledger's lock: one at a time, also with more threads than processors and a slow owner. */
#include "tracer/lock.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "test.h"

enum {
	THREADS = 8,
	TURNS = 20000
};

static struct lock lock;
static uint64_t count; /* guarded by it */

static void *raise_count(void *unused)
{
	for (unsigned i = 0; i < TURNS; i++) {
		lock_take(&lock);
		count++;
		lock_give(&lock);
	}
	return unused;
}

static void *wait_for_it(void *unused)
{
	errno = 1234;
	lock_take(&lock);
	count++;
	lock_give(&lock);
	EXPECT_U64(errno, 1234);
	return unused;
}

static void one_at_a_time(void)
{
	pthread_t threads[THREADS];

	for (unsigned i = 0; i < THREADS; i++)
		EXPECT(pthread_create(&threads[i], NULL, raise_count, NULL) == 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	EXPECT_U64(count, THREADS * TURNS);
}

static void waits_for_a_slow_owner(void)
{
	const struct timespec while_held = {.tv_nsec = 50000000};
	uint64_t before = count;
	pthread_t thread;

	EXPECT(lock_try(&lock));
	EXPECT(!lock_try(&lock));
	EXPECT(pthread_create(&thread, NULL, wait_for_it, NULL) == 0);
	nanosleep(&while_held, NULL);
	EXPECT_U64(count, before);
	lock_give(&lock);
	pthread_join(thread, NULL);
	EXPECT_U64(count, before + 1);
}

int main(void)
{
	one_at_a_time();
	waits_for_a_slow_owner();
	return test_result();
}
