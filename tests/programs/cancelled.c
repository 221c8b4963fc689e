/*
 * A thread that was cancelled, and works on until its next point of cancellation: makes events,
 * marks and the trace itself.  Then the main thread makes some, too.  Prints whether the thread got
 * to its end.  Killed if anybody waits for a lock that the thread took with it.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "gpuleak/gpuleak.h"

#include "fake.h"

#pragma weak gpuleak_step

static bool worked;

static void work(void)
{
	for (unsigned i = 0; i < 100; i++) {
		fake_alloc(0, 512);
		if (gpuleak_step && i % 10 == 9)
			gpuleak_step();
	}
}

static void *cancelled(void *unused)
{
	(void)unused;
	pthread_cancel(pthread_self());
	work();
	worked = true;
	pthread_testcancel();
	return NULL;
}

int main(void)
{
	pthread_t thread;
	void *result;

	alarm(30);
	if (pthread_create(&thread, NULL, cancelled, NULL) != 0)
		return 1;
	pthread_join(thread, &result);
	printf("worked %d, cancelled %d\n", worked, result == PTHREAD_CANCELED);
	work();
	return 0;
}
