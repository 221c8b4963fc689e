#include "tracer/slots.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "trace/sound.h"
#include "tracer/memory.h"
#include "tracer/notice.h"
#include "tracer/slot_file.h"
#include "tracer/slot_image.h"
#include "tracer/trace_writer.h"

#include "tracer/banned.h"

static const uint64_t ms = 1000000;	       /* ns */
static const uint64_t rest_min = 100 * ms;     /* between two writings */
static const uint64_t rest_failed = 1000 * ms; /* after one that failed */
static const uint64_t rest_max = 10000 * ms;
static const uint64_t finish_max = 2000 * ms; /* to wait for the disk at the end */
static const uint64_t fork_max = 200 * ms;    /* ... and before a fork */

/* Guarded by its lock, but for what says otherwise.  The lock is never held on the disk. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t wake; /* what the thread waits for, and who waits for the thread */
	bool running;	     /* the thread is there; read without the lock by slots_marked() */
	bool forking;	     /* it shall end as soon as it can */
	bool finishing;	     /* the last writing is to come, or under way */
	bool finished;	     /* ... and over */
	bool waited_for;     /* a fork has waited in vain for the writing under way: enough */
	pid_t thread;	     /* its number, also when it has just ended; 0: none */
	uint64_t next;	     /* no writing before; the thread's alone, as all that follows */
	uint64_t mark;	     /* written last */
	uint64_t when;	     /* ... and when it was made */
	bool failing;	     /* said so */
	struct slot_file file;
	struct slot_image image;
} writer = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Caller holds the lock.  False when it is `until` by the clock. */
static bool wait_until(uint64_t until)
{
	struct timespec time = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};

	return pthread_cond_timedwait(&writer.wake, &writer.lock, &time) != ETIMEDOUT;
}

static void init_lock(void)
{
	pthread_condattr_t attributes;

	pthread_mutex_init(&writer.lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&writer.wake, &attributes);
	pthread_condattr_destroy(&attributes);
}

static void put_ring(struct slot_file *file)
{
	static struct gpuleak_ring_page copy; /* the thread's alone */
	uint64_t pages = __atomic_load_n(&trace.state->ring_claimed, __ATOMIC_ACQUIRE);

	if (pages > trace.ring_pages)
		pages = trace.ring_pages;
	for (uint64_t i = 0; i < pages; i++) {
		uint64_t offset = (uint64_t)((const uint8_t *)&trace.ring[i] - trace.file.bytes);
		uint64_t tag;

		if (slot_file_has(file, offset, slot_image_full_page(i)))
			continue;
		tag = slot_image_ring_page(i, &copy);
		if (tag && !slot_file_has(file, offset, tag))
			slot_file_put_page(file, &copy, offset, tag);
	}
}

static void say_failure(int error)
{
	char text[128] = "";

	if (writer.failing)
		return;
	writer.failing = true;
	notice_say("can't write ", trace.file.name.path, ": ",
		   strerror_r(error, text, sizeof(text)), ": trying again at later marks", NULL);
}

/* One writing, without the lock. */
static void write_image(void)
{
	uint64_t begun = now();
	uint64_t rest;

	slot_image_take(&writer.image);
	slot_file_begin(&writer.file);
	for (unsigned i = 0; i < writer.image.count; i++)
		slot_file_put(&writer.file, writer.image.bytes, writer.image.ranges[i].offset,
			      writer.image.ranges[i].size);
	put_ring(&writer.file);
	rest = 9 * (now() - begun);
	if (slot_file_end(&writer.file)) {
		writer.mark = writer.image.mark;
		writer.when = writer.image.when;
	} else {
		say_failure(writer.file.error);
		rest = rest < rest_failed ? rest_failed : rest;
	}
	rest = rest < rest_min ? rest_min : rest > rest_max ? rest_max : rest;
	writer.next = now() + rest;
}

/* A mark counts that isn't in the file. */
static bool behind(void)
{
	uint64_t mark = __atomic_load_n(&trace.state->committed, __ATOMIC_ACQUIRE);
	const struct gpuleak_mark_version *at = sound_mark(trace.state, mark);

	return mark != writer.mark || (mark && (!at || at->when != writer.when));
}

/* Caller holds the lock.  False when the thread has no more to do. */
static bool wait_for_turn(void)
{
	while (!writer.finishing && !writer.forking && wait_until(writer.next))
		;
	if (writer.forking || writer.finished)
		return false;
	return writer.finishing || behind();
}

static void *write_images(void *unused)
{
	bool last;

	(void)unused;
	prctl(PR_SET_NAME, "gpuleak");
	pthread_mutex_lock(&writer.lock);
	writer.thread = (pid_t)syscall(SYS_gettid);
	while (wait_for_turn()) {
		last = writer.finishing;
		pthread_mutex_unlock(&writer.lock);
		write_image();
		pthread_mutex_lock(&writer.lock);
		writer.waited_for = false;
		writer.finished = last;
	}
	__atomic_store_n(&writer.running, false, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&writer.wake);
	pthread_mutex_unlock(&writer.lock);
	return NULL;
}

/* Caller holds the lock. */
static void start_thread(void)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	bool started;

	if (pthread_attr_init(&attributes) != 0)
		return;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	/* The program's signals are for its own threads, and SIGXFSZ is for none. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(&thread, &attributes, write_images, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	__atomic_store_n(&writer.running, started, __ATOMIC_RELAXED);
}

bool slots_begin(void)
{
	int saved = errno;

	if (!trace.file.slotted)
		return true;
	init_lock();
	if (!slot_file_open(&writer.file, &trace.file) || !slot_image_open(&writer.image))
		return false;
	write_image();
	writer.next = 0;
	errno = saved;
	return true;
}

void slots_marked(void)
{
	int saved = errno;

	if (!trace.file.slotted || __atomic_load_n(&writer.running, __ATOMIC_RELAXED))
		return;
	pthread_mutex_lock(&writer.lock);
	if (!writer.running && !writer.forking && !writer.finishing)
		start_thread();
	pthread_mutex_unlock(&writer.lock);
	errno = saved;
}

/* Caller holds the lock. */
static void finish(void)
{
	uint64_t until = now() + finish_max;

	writer.finishing = true;
	pthread_cond_broadcast(&writer.wake);
	if (!writer.running)
		start_thread();
	while (writer.running && !writer.finished && wait_until(until))
		;
	if (!writer.finished)
		notice_say("can't write the end of ", trace.file.name.path,
			   " in time: its latest marks are missing", NULL);
}

void slots_finish(void)
{
	int cancel;

	if (!trace.file.slotted || !writer.image.bytes)
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_mutex_lock(&writer.lock);
	finish();
	pthread_mutex_unlock(&writer.lock);
	pthread_setcancelstate(cancel, NULL);
}

/* A thread is in the process's count for a moment longer than it holds its lock. */
static void wait_until_gone(pid_t thread, uint64_t until)
{
	while (thread && syscall(SYS_tgkill, getpid(), thread, 0) == 0 && now() < until)
		nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

/* Caller holds the lock.  The number of a thread that has just ended, or 0. */
static pid_t end_thread(uint64_t until)
{
	pid_t thread;

	writer.forking = true;
	pthread_cond_broadcast(&writer.wake);
	while (writer.running && !writer.waited_for && wait_until(until))
		;
	writer.waited_for = writer.running;
	if (writer.running)
		return 0;
	thread = writer.thread;
	writer.thread = 0;
	return thread;
}

void slots_fork_begins(void)
{
	uint64_t until = now() + fork_max;
	int saved = errno;
	pid_t thread;
	int cancel;

	if (!trace.file.slotted)
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_mutex_lock(&writer.lock);
	thread = end_thread(until);
	pthread_mutex_unlock(&writer.lock);
	wait_until_gone(thread, until);
	pthread_setcancelstate(cancel, NULL);
	errno = saved;
}

void slots_fork_ended(void)
{
	if (!trace.file.slotted)
		return;
	pthread_mutex_lock(&writer.lock);
	writer.forking = false;
	pthread_mutex_unlock(&writer.lock);
}

void slots_forget(void)
{
	memset(&writer, 0, sizeof(writer));
	memory_forget_sparse();
	init_lock();
}
