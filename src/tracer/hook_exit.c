/*
 * The ends that run no destructor: _exit() and what becomes another program.  A mapped trace
 * loses nothing by them; of one that isn't, the marks of the last moments are written first.
 *
 * Called from signal handlers, and in children of vfork() that share our memory: nothing here
 * takes a lock or looks anything up.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracer/hook_exit.h"
#include "tracer/real.h"
#include "tracer/slots.h"

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

__attribute__((noreturn)) static void leave(void (*next)(int status), int status)
{
	slots_leave();
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
	slots_leave();
	return next_execve ? next_execve(path, argv, envp)
			   : (int)syscall(SYS_execve, path, argv, envp);
}

EXPORT int execv(const char *path, char *const argv[])
{
	slots_leave();
	return next_execv ? next_execv(path, argv) : (int)syscall(SYS_execve, path, argv, environ);
}
