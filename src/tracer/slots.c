#include "tracer/slots.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tracer/memory.h"
#include "tracer/notice.h"
#include "tracer/slot_file.h"
#include "tracer/slot_image.h"
#include "tracer/trace_writer.h"

#include "tracer/banned.h"

#ifndef SLOTS_FINISH_MS /* a sanitizer's builds take longer */
#define SLOTS_FINISH_MS 2000
#endif

static const uint64_t ms = 1000000;	       /* ns */
static const uint64_t rest_min = 100 * ms;     /* between two writings */
static const uint64_t rest_failed = 1000 * ms; /* after one that failed */
static const uint64_t rest_max = 10000 * ms;
static const uint64_t finish_max = SLOTS_FINISH_MS * ms; /* to wait for the disk at the end */
static const uint64_t fork_max = 200 * ms;		 /* ... and before a fork */
static const uint64_t fork_write_max = 100 * ms;	 /* a writing that is begun for a fork */
static const uint64_t leave_max = 200 * ms; /* ... and before an end without a destructor */

/* Guarded by its lock, but for what says otherwise.  The lock is never held on the disk. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t wake; /* who waits for the thread */
	uint32_t calls;	     /* what the thread waits for: a futex, raised without the lock */
	bool running;	     /* the thread is there; read without the lock */
	bool ending;	     /* ... and is about to end, so read */
	bool forking;	     /* it shall end as soon as it can */
	bool finishing;	     /* the last writing is to come, or under way */
	bool finished;	     /* ... and over */
	bool waited_for;     /* a fork has waited in vain for the writing under way: enough */
	pid_t process;	     /* whose all this is: a child of vfork() sees it as well */
	uint32_t asked;	     /* times that slots_leave() did; these three without the lock */
	uint32_t answered;   /* a futex: as far as `asked`, all is written */
	bool in_vain;	     /* slots_leave() has waited for the writing under way: enough */
	pid_t thread;	     /* its number, also when it has just ended; 0: none */
	uint64_t next;	     /* no writing before; the thread's alone, as all that follows */
	uint64_t next_fork;  /* no writing for a fork before */
	uint64_t took;	     /* ns, the last writing */
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

static struct timespec timespec_of(uint64_t time)
{
	return (struct timespec){(time_t)(time / 1000000000u), (long)(time % 1000000000u)};
}

/* Caller holds the lock.  False when it is `until` by the clock. */
static bool wait_until(uint64_t until)
{
	struct timespec time = timespec_of(until);

	return pthread_cond_timedwait(&writer.wake, &writer.lock, &time) != ETIMEDOUT;
}

/* While `*futex` is `value`, until `until` by the clock.  False when it is that late. */
static bool futex_wait(const uint32_t *futex, uint32_t value, uint64_t until)
{
	struct timespec time = timespec_of(until);

	return syscall(SYS_futex, futex, FUTEX_WAIT_BITSET_PRIVATE, value, &time, NULL,
		       FUTEX_BITSET_MATCH_ANY) == 0 ||
	       errno != ETIMEDOUT;
}

static void futex_wake(const uint32_t *futex)
{
	syscall(SYS_futex, futex, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

/* Any thread, also within a signal's handler: no lock. */
static void call_thread(void)
{
	__atomic_fetch_add(&writer.calls, 1, __ATOMIC_SEQ_CST);
	futex_wake(&writer.calls);
}

static bool called_to_leave(void)
{
	return __atomic_load_n(&writer.asked, __ATOMIC_SEQ_CST) != writer.answered;
}

/* All marks before the question are in the file, or won't be by this thread. */
static void answer(uint32_t asked)
{
	__atomic_store_n(&writer.in_vain, false, __ATOMIC_RELAXED);
	__atomic_store_n(&writer.answered, asked, __ATOMIC_RELEASE);
	futex_wake(&writer.answered);
}

/* The thread's rest.  Caller holds the lock, which is given back meanwhile; false as above. */
static bool rest_until(uint64_t until)
{
	uint32_t calls = __atomic_load_n(&writer.calls, __ATOMIC_SEQ_CST);
	bool called;

	if (called_to_leave())
		return true;
	pthread_mutex_unlock(&writer.lock);
	called = futex_wait(&writer.calls, calls, until);
	pthread_mutex_lock(&writer.lock);
	return called;
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
	uint64_t begun = now(), rest;
	bool written;

	slot_image_take(&writer.image);
	slot_file_begin(&writer.file);
	for (unsigned i = 0; i < writer.image.count; i++)
		slot_file_put(&writer.file, writer.image.bytes, writer.image.ranges[i].offset,
			      writer.image.ranges[i].size);
	put_ring(&writer.file);
	written = slot_file_end(&writer.file);
	writer.took = now() - begun;
	rest = 9 * writer.took;
	if (written) {
		writer.mark = writer.image.mark;
		writer.when = writer.image.when;
	} else {
		say_failure(writer.file.error);
		rest = rest < rest_failed ? rest_failed : rest;
	}
	rest = rest < rest_min ? rest_min : rest > rest_max ? rest_max : rest;
	writer.next = now() + rest;
}

/* When a mark was made; 0: it is gone meanwhile. */
static uint64_t made_at(uint64_t mark)
{
	const struct gpuleak_mark_version *marks = trace.state->marks;

	for (unsigned i = 0; i < 2; i++)
		if (__atomic_load_n(&marks[i].mark, __ATOMIC_RELAXED) == mark)
			return __atomic_load_n(&marks[i].when, __ATOMIC_RELAXED);
	return 0;
}

/* A mark counts that isn't in the file. */
static bool behind(void)
{
	uint64_t mark = __atomic_load_n(&trace.state->committed, __ATOMIC_ACQUIRE);

	return mark != writer.mark || (mark && made_at(mark) != writer.when);
}

/* A fork may wait for a writing: the disk is quick, and that takes a tenth of the time at most. */
static bool may_write_for_fork(void)
{
	return writer.took < fork_write_max && now() >= writer.next_fork;
}

/* Caller holds the lock.  False when the thread has no more to do. */
static bool wait_for_turn(void)
{
	while (!writer.finishing && !writer.forking && !called_to_leave() &&
	       rest_until(writer.next))
		;
	if (writer.finished || (writer.forking && !may_write_for_fork()))
		return false;
	return writer.finishing || behind();
}

/* Caller holds the lock.  False when a mark came just now, of which nobody else will tell. */
static bool end_running(void)
{
	__atomic_store_n(&writer.ending, true, __ATOMIC_SEQ_CST);
	if (!writer.forking && !writer.finished && behind()) {
		__atomic_store_n(&writer.ending, false, __ATOMIC_RELAXED);
		return false;
	}
	__atomic_store_n(&writer.running, false, __ATOMIC_SEQ_CST);
	return true;
}

/* Caller holds the lock, which is given back meanwhile. */
static void take_turn(void)
{
	bool last = writer.finishing, forking = writer.forking;
	uint32_t asked = __atomic_load_n(&writer.asked, __ATOMIC_SEQ_CST);

	pthread_mutex_unlock(&writer.lock);
	write_image();
	pthread_mutex_lock(&writer.lock);
	if (forking)
		writer.next_fork = now() + 9 * writer.took;
	answer(asked);
	writer.waited_for = false;
	writer.finished = last;
}

static void *write_images(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "gpuleak");
	pthread_mutex_lock(&writer.lock);
	writer.thread = (pid_t)syscall(SYS_gettid);
	do {
		while (wait_for_turn())
			take_turn();
	} while (!end_running());
	answer(__atomic_load_n(&writer.asked, __ATOMIC_SEQ_CST));
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
	__atomic_store_n(&writer.ending, false, __ATOMIC_RELAXED);
	__atomic_store_n(&writer.running, started, __ATOMIC_RELAXED);
}

bool slots_begin(void)
{
	int saved = errno;

	if (!trace.file.slotted)
		return true;
	init_lock();
	writer.process = getpid();
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

	if (!trace.file.slotted)
		return;
	/* Either we see that the thread is ending, or the thread sees the mark. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&writer.running, __ATOMIC_RELAXED) &&
	    !__atomic_load_n(&writer.ending, __ATOMIC_RELAXED))
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
	call_thread();
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

void slots_leave(void)
{
	uint64_t until;
	uint32_t asked;
	int saved = errno;

	if (!trace.file.slotted || !__atomic_load_n(&writer.running, __ATOMIC_SEQ_CST) ||
	    __atomic_load_n(&writer.in_vain, __ATOMIC_RELAXED) || getpid() != writer.process)
		return;
	until = now() + leave_max;
	asked = __atomic_add_fetch(&writer.asked, 1, __ATOMIC_SEQ_CST);
	call_thread();
	while (__atomic_load_n(&writer.running, __ATOMIC_SEQ_CST)) {
		uint32_t answered = __atomic_load_n(&writer.answered, __ATOMIC_ACQUIRE);

		if ((int32_t)(answered - asked) >= 0)
			break;
		if (!futex_wait(&writer.answered, answered, until)) {
			__atomic_store_n(&writer.in_vain, true, __ATOMIC_RELAXED);
			break;
		}
	}
	errno = saved;
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

	/* No mark may come for long, or none any more: what there is, is written now. */
	if (!writer.running && writer.image.bytes && behind() && may_write_for_fork())
		start_thread();
	writer.forking = true;
	call_thread();
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
