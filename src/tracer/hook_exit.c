/*
 * The ends that run no destructor: _exit() and what becomes another program.  The last events
 * enter the books first; of a trace that isn't mapped the marks of the last moments are written.
 *
 * Called from signal handlers, and in children of vfork() that share our memory: nothing here
 * waits for a lock or looks anything up.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracer/hook_exit.h"
#include "tracer/ledger.h"
#include "tracer/real.h"
#include "tracer/slots.h"
#include "tracer/tracer.h"

#define EXPORT __attribute__((visibility("default")))

/* The next ones, which may be another preloaded library's; set once, by the constructor. */
static void (*next_exit)(int status);
static void (*next_exit_c)(int status);
static int (*next_execv)(const char *path, char *const argv[]);
static int (*next_execve)(const char *path, char *const argv[], char *const envp[]);

static void find(void *function, const char *name)
{
	void *next = dlsym(RTLD_NEXT, name);

	memcpy(function, &next, sizeof(next));
}

void hook_exit_open(void)
{
	find(&next_exit, "_exit");
	find(&next_exit_c, "_Exit");
	find(&next_execv, "execv");
	find(&next_execve, "execve");
}

static void write_rest(void)
{
	if (tracer_recording())
		ledger_catch_up_all();
	slots_leave();
}

__attribute__((noreturn)) static void leave(void (*next)(int status), int status)
{
	write_rest();
	if (next)
		next(status);
	for (;;)
		syscall(SYS_exit_group, status);
}

EXPORT void _exit(int status)
{
	leave(next_exit, status);
}

EXPORT void _Exit(int status)
{
	leave(next_exit_c, status);
}

EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
	write_rest();
	return next_execve ? next_execve(path, argv, envp)
			   : (int)syscall(SYS_execve, path, argv, envp);
}

EXPORT int execv(const char *path, char *const argv[])
{
	write_rest();
	return next_execv ? next_execv(path, argv) : (int)syscall(SYS_execve, path, argv, environ);
}
