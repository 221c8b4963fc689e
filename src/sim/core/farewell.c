#include "sim/core/farewell.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	THREADS = 1024, /* more are not waited for */
	LOOK_US = 1000, /* between two looks */
	LOOKS = 500,	/* then we let the program end anyway */
};

/* The parts of Python's stable interface that we use. */
struct python {
	int (*add_pending_call)(int (*function)(void *), void *argument);
	void *(*import_module)(const char *name);
	void *(*new_function)(void *definition, void *self, void *module);
	void *(*call_method)(void *object, const char *name, const char *format, ...);
	void *(*save_thread)(void);
	void (*restore_thread)(void *state);
	void *(*none)(const char *format, ...);
	void (*clear_error)(void);
	void (*decref)(void *object);
};

/* PyMethodDef. */
struct method {
	const char *name;
	void *(*function)(void *self, void *argument);
	int flags;
	const char *doc;
};

static struct python python; /* written once, by arm() */
static pthread_once_t armed = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list below */
static pid_t threads[THREADS];
static unsigned thread_count;
static pid_t owner; /* the process the list is of */

/*
 * How many times thread `id` has been switched out, ended threads counting as resting at 0.
 * False: it runs, or waits for a processor.
 */
static bool thread_rests(pid_t id, unsigned long *switches)
{
	char path[64], text[2048];
	const char *found;
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", (int)id);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true;
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (length <= 0)
		return true;
	text[length] = 0;
	found = strstr(text, "\nvoluntary_ctxt_switches:");
	if (found)
		*switches += strtoul(found + strlen("\nvoluntary_ctxt_switches:"), NULL, 10);
	found = strstr(text, "\nState:");
	return !found || !strchr("RD", found[strspn(found + 7, " \t") + 7]);
}

/* Do all but the calling thread rest? */
static bool all_rest(unsigned long *switches)
{
	pid_t self = (pid_t)syscall(SYS_gettid);
	bool rest = true;

	*switches = 0;
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < thread_count; i++)
		if (threads[i] != self && !thread_rests(threads[i], switches))
			rest = false;
	pthread_mutex_unlock(&lock);
	return rest;
}

static void wait_for_rest(void)
{
	struct timespec pause = {.tv_nsec = LOOK_US * 1000L};
	unsigned long before = 0, now = 0;
	unsigned calm = 0;

	for (int look = 0; look < LOOKS && calm < 3; look++) {
		bool rest = all_rest(&now);

		calm = rest && now == before ? calm + 1 : 0;
		before = now;
		nanosleep(&pause, NULL);
	}
}

static void *say_farewell(void *self, void *argument)
{
	void *state;

	(void)self;
	(void)argument;
	state = python.save_thread();
	wait_for_rest();
	python.restore_thread(state);
	return python.none("");
}

static struct method farewell = {
	.name = "gpuleak_sim_farewell",
	.function = say_farewell,
	.flags = 4 /* METH_NOARGS */,
	.doc = "Wait until the threads that used the simulated GPU rest.",
};

/* Python calls this on its main thread, with the GIL.  It never fails towards Python. */
static int register_farewell(void *unused)
{
	void *module, *function, *result = NULL;

	(void)unused;
	module = python.import_module("atexit");
	function = module ? python.new_function(&farewell, NULL, NULL) : NULL;
	if (function)
		result = python.call_method(module, "register", "O", function);
	if (!result)
		python.clear_error();
	for (int i = 0; i < 3; i++) {
		void *object = i == 0 ? module : i == 1 ? function : result;

		if (object)
			python.decref(object);
	}
	return 0;
}

/* A program without Python has none of these, and needs no farewell. */
static void arm(void)
{
	int saved = errno;

#define LOOK_UP(member, name) *(void **)&python.member = dlsym(RTLD_DEFAULT, name)
	LOOK_UP(add_pending_call, "Py_AddPendingCall");
	LOOK_UP(import_module, "PyImport_ImportModule");
	LOOK_UP(new_function, "PyCFunction_NewEx");
	LOOK_UP(call_method, "PyObject_CallMethod");
	LOOK_UP(save_thread, "PyEval_SaveThread");
	LOOK_UP(restore_thread, "PyEval_RestoreThread");
	LOOK_UP(none, "Py_BuildValue");
	LOOK_UP(clear_error, "PyErr_Clear");
	LOOK_UP(decref, "Py_DecRef");
#undef LOOK_UP
	if (python.add_pending_call && python.import_module && python.new_function &&
	    python.call_method && python.save_thread && python.restore_thread && python.none &&
	    python.clear_error && python.decref)
		python.add_pending_call(register_farewell, NULL);
	errno = saved;
}

/* Forget the threads that are no more.  Under the lock. */
static void forget_ended(void)
{
	unsigned kept = 0;
	char path[64];

	for (unsigned i = 0; i < thread_count; i++) {
		snprintf(path, sizeof(path), "/proc/self/task/%d", (int)threads[i]);
		if (access(path, F_OK) == 0)
			threads[kept++] = threads[i];
	}
	thread_count = kept;
}

void gpusim_farewell_watch(void)
{
	int saved = errno;

	pthread_once(&armed, arm);
	pthread_mutex_lock(&lock);
	if (owner != getpid()) {
		owner = getpid();
		thread_count = 0;
	}
	if (thread_count == THREADS)
		forget_ended();
	if (thread_count < THREADS)
		threads[thread_count++] = (pid_t)syscall(SYS_gettid);
	pthread_mutex_unlock(&lock);
	errno = saved;
}
