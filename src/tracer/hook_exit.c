/*
 * The ends that run no destructor: _exit(), quick_exit() and what becomes another program.  The
 * last events enter the books first; of a trace that isn't mapped the marks of the last moments
 * are written.  execl() and its kin, called from C, become another program past us.
 *
 * Called from signal handlers, and in children of vfork() that share our memory: nothing here
 * waits for a lock or looks anything up.
 */
#include <dlfcn.h>
#include <errno.h>
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
static int (*next_execvp)(const char *file, char *const argv[]);
static int (*next_execvpe)(const char *file, char *const argv[], char *const envp[]);
static int (*next_fexecve)(int fd, char *const argv[], char *const envp[]);

static void find(void *function, const char *name)
{
	void *next = dlsym(RTLD_NEXT, name);

	memcpy(function, &next, sizeof(next));
}

static void write_rest(void)
{
	if (tracer_recording() || tracer_paused())
		ledger_catch_up_all();
	slots_leave();
}

void hook_exit_open(void)
{
	find(&next_exit, "_exit");
	find(&next_exit_c, "_Exit");
	find(&next_execv, "execv");
	find(&next_execve, "execve");
	find(&next_execvp, "execvp");
	find(&next_execvpe, "execvpe");
	find(&next_fexecve, "fexecve");
	/* libc's own call of _exit() doesn't come to ours.  The first to be told is called last. */
	(void)at_quick_exit(write_rest);
}

static int not_here(void)
{
	errno = ENOSYS;
	return -1;
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

EXPORT int execvp(const char *file, char *const argv[])
{
	write_rest();
	return next_execvp ? next_execvp(file, argv) : not_here();
}

EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	write_rest();
	return next_execvpe ? next_execvpe(file, argv, envp) : not_here();
}

EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
	write_rest();
	return next_fexecve ? next_fexecve(fd, argv, envp) : not_here();
}
