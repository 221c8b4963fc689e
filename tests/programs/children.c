/*
 * Processes that have children, become another program, or close what isn't theirs.
 * Each process with events prints a line of JSON: its pid, and what it did by then.
 * Usage: children MODE, see `modes`.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gpuleak/gpuleak.h"

#include "fake.h"
#include "site_stack.h"

#pragma weak gpuleak_step

enum {
	BLOCK = 512,
	DESCRIPTORS = 64, /* as many as the tests look at */
	STORM_THREADS = 3,
	STORM_CHILDREN = 60,
	REST_NS = 20000000, /* long enough for a first mark to be written, too short for two */
};

static unsigned steps, allocs, frees; /* of this process */

static void step(void)
{
	if (gpuleak_step)
		gpuleak_step();
	steps++;
}

/* A step keeps one block and has one temporary. */
static void loop(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		uint64_t temporary;

		fake_alloc(0, BLOCK);
		temporary = fake_alloc(0, 4 * BLOCK);
		fake_free_at(0, temporary, 4 * BLOCK);
		allocs += 2;
		frees++;
		step();
	}
}

static void tell(void)
{
	printf("{\"pid\": %ld, \"marks\": %u, \"allocs\": %u, \"frees\": %u, \"live\": %u}\n",
	       (long)getpid(), steps, allocs, frees, (allocs - frees) * BLOCK);
	fflush(stdout);
}

static int wait_for(pid_t child)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) < 0) {
		perror("children");
		return 1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* In a child: nothing is done yet. */
static void begin_anew(void)
{
	steps = allocs = frees = 0;
}

static pid_t fork_loop(unsigned count)
{
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child != 0)
		return child;
	begin_anew();
	loop(count);
	if (count)
		tell();
	exit(0);
}

static int fork_in_the_middle(const char *self)
{
	int code;

	(void)self;
	loop(5);
	code = wait_for(fork_loop(3));
	loop(2);
	tell();
	return code;
}

static int fork_quiet(const char *self)
{
	int code;

	(void)self;
	loop(4);
	code = wait_for(fork_loop(0));
	loop(1);
	tell();
	return code;
}

/* The trace is ready, under its temporary name, and the child ends first. */
static int fork_before_the_first(const char *self)
{
	int count, code;

	(void)self;
	cudaGetDeviceCount(&count);
	code = wait_for(fork_loop(0)) || wait_for(fork_loop(2));
	loop(3);
	tell();
	return code;
}

static int fork_grandchild(const char *self)
{
	pid_t child;

	(void)self;
	loop(2);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		begin_anew();
		loop(3);
		tell();
		exit(wait_for(fork_loop(4)));
	}
	loop(1);
	tell();
	return wait_for(child);
}

static int vfork_and_end(const char *self)
{
	pid_t child;

	loop(2);
	child = vfork();
	if (child == 0)
		_exit(7);
	if (wait_for(child) != 7)
		return 1;
	child = vfork();
	if (child == 0) {
		execl(self, self, "plain", NULL);
		_exit(127);
	}
	loop(1);
	tell();
	return wait_for(child);
}

/* A child without libc's fork(): no handler runs, and it has no mapping of the trace. */
static pid_t clone_raw(void)
{
	fflush(stdout);
	return (pid_t)syscall(SYS_clone, (unsigned long)SIGCHLD, NULL, NULL, NULL, NULL);
}

/* The child's first event is a free of the parent's, after a step of its own. */
static int clone_and_record(const char *self)
{
	pid_t child;

	(void)self;
	loop(4);
	child = clone_raw();
	if (child == 0) {
		if (gpuleak_step)
			gpuleak_step();
		begin_anew();
		fake_free_at(0, 0x123400, BLOCK);
		fake_alloc_at(0, 0x123400, BLOCK);
		loop(3);
		allocs++;
		tell();
		exit(0);
	}
	loop(1);
	tell();
	return wait_for(child);
}

/* Children that use no GPU. */
static int clone_quiet(const char *self)
{
	pid_t child;
	int code;

	(void)self;
	loop(4);
	child = clone_raw();
	if (child == 0)
		exit(0);
	code = wait_for(child);
	child = clone_raw();
	if (child == 0)
		_exit(0);
	code += wait_for(child);
	loop(1);
	tell();
	return code;
}

static int spawn(const char *self)
{
	char *const arguments[] = {(char *)self, "plain", NULL};
	pid_t child = -1;

	loop(2);
	if (posix_spawn(&child, self, NULL, NULL, arguments, environ) != 0)
		return 1;
	loop(1);
	tell();
	return wait_for(child);
}

static int plain(const char *self)
{
	(void)self;
	loop(6);
	tell();
	return 0;
}

static int become_another(const char *self)
{
	loop(4);
	tell();
	execl(self, self, "plain", NULL);
	return 1;
}

/* Prints its descriptors: what the program before it left open. */
static int descriptors(const char *self)
{
	(void)self;
	for (int fd = 3; fd < DESCRIPTORS; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			printf("open: %d\n", fd);
	return 0;
}

/* Where marks are written by a thread, these come before and after it did so. */
static void loop_twice(unsigned count)
{
	loop(count);
	nanosleep(&(struct timespec){.tv_nsec = REST_NS}, NULL);
	loop(count);
	tell();
}

/* Three generations end by _exit(); of two of them a fork is the last that they do. */
static int fork_and_end(const char *self)
{
	pid_t child;

	(void)self;
	for (unsigned generation = 0; generation < 3; generation++) {
		begin_anew();
		loop_twice(10);
		if (generation == 2)
			break;
		child = fork();
		if (child != 0)
			_exit(wait_for(child));
	}
	_exit(0);
}

static int nothing(const char *self)
{
	(void)self;
	return 0;
}

/* A child becomes another program, and so does its parent, to which nothing happens in between. */
static int fork_and_exec(const char *self)
{
	char *const arguments[] = {(char *)self, "nothing", NULL};
	pid_t child;

	loop_twice(10);
	child = fork();
	if (child == 0) {
		begin_anew();
		loop_twice(10);
		execv(self, arguments);
	}
	if (wait_for(child) == 0)
		execve(self, arguments, environ);
	return 1;
}

static int exec_by_name(const char *self)
{
	char *const arguments[] = {(char *)self, "nothing", NULL};

	loop_twice(10);
	execvp(self, arguments);
	return 1;
}

static int exec_by_name_with(const char *self)
{
	char *const arguments[] = {(char *)self, "nothing", NULL};

	loop_twice(10);
	execvpe(self, arguments, environ);
	return 1;
}

static int exec_by_descriptor(const char *self)
{
	char *const arguments[] = {(char *)self, "nothing", NULL};
	int fd = open(self, O_RDONLY | O_CLOEXEC);

	loop_twice(10);
	fexecve(fd, arguments, environ);
	return 1;
}

static int end_quickly(const char *self)
{
	(void)self;
	loop_twice(10);
	quick_exit(0);
}

static int leave_descriptors(const char *self)
{
	loop(1);
	execl(self, self, "descriptors", NULL);
	return 1;
}

static void close_all(void)
{
	for (int fd = 3; fd < DESCRIPTORS; fd++)
		close(fd);
}

static int close_early(const char *self)
{
	int count;

	(void)self;
	cudaGetDeviceCount(&count);
	close_all();
	loop(5);
	tell();
	return 0;
}

static int close_late(const char *self)
{
	(void)self;
	loop(3);
	close_all();
	loop(2);
	tell();
	return 0;
}

/* A daemon's habit.  The numbers are given out again, to files of the program's own. */
static int close_and_fork(const char *self)
{
	int last = 0;
	pid_t child;

	loop(3);
	close_all();
	for (int fd = 3; fd < DESCRIPTORS; fd++)
		last = open(self, O_RDONLY | O_CLOEXEC);
	child = fork();
	if (child == 0) {
		for (int fd = 3; fd <= last; fd++)
			if (fcntl(fd, F_GETFD) < 0)
				_exit(fd);
		begin_anew();
		loop(2);
		tell();
		exit(0);
	}
	tell();
	return wait_for(child);
}

static atomic_bool storm_over;

static void new_stack(void *data)
{
	(void)data;
	fake_alloc(0, BLOCK);
}

/* New stacks all the time: strings, frames and sites are written under locks. */
static void *storm(void *number)
{
	for (uint32_t i = 0; !atomic_load(&storm_over); i++) {
		site_call(i * 16 + (uint32_t)(uintptr_t)number, new_stack, NULL);
		if (i % 8 == 0)
			step();
	}
	return NULL;
}

/* A child of a process whose other threads were anywhere in the tracer. */
static pid_t fork_in_storm(uint32_t number)
{
	pid_t child = fork();

	if (child != 0)
		return child;
	alarm(10); /* one that waits for a lock that nobody holds ends by SIGALRM */
	site_call(0xf00 + number, new_stack, NULL);
	if (gpuleak_step)
		gpuleak_step();
	exit(0);
}

static int fork_storm(const char *self)
{
	pthread_t threads[STORM_THREADS];
	int bad = 0;

	(void)self;
	new_stack(NULL); /* the parent's trace comes first */
	for (uintptr_t i = 0; i < STORM_THREADS; i++)
		pthread_create(&threads[i], NULL, storm, (void *)i);
	for (uint32_t i = 0; i < STORM_CHILDREN && bad < 3; i++) {
		int code = wait_for(fork_in_storm(i));

		if (code != 0)
			fprintf(stderr, "child %u ends with %d\n", i, code);
		bad += code != 0;
	}
	atomic_store(&storm_over, true);
	for (unsigned i = 0; i < STORM_THREADS; i++)
		pthread_join(threads[i], NULL);
	return bad ? 1 : 0;
}

static const struct mode {
	const char *name;
	int (*run)(const char *self);
} modes[] = {
	{"fork", fork_in_the_middle},
	{"fork_quiet", fork_quiet},
	{"fork_before", fork_before_the_first},
	{"fork_grandchild", fork_grandchild},
	{"fork_storm", fork_storm},
	{"vfork", vfork_and_end},
	{"clone", clone_and_record},
	{"clone_quiet", clone_quiet},
	{"spawn", spawn},
	{"plain", plain},
	{"exec", become_another},
	{"fork_and_end", fork_and_end},
	{"fork_and_exec", fork_and_exec},
	{"nothing", nothing},
	{"exec_by_name", exec_by_name},
	{"exec_by_name_with", exec_by_name_with},
	{"exec_by_descriptor", exec_by_descriptor},
	{"end_quickly", end_quickly},
	{"descriptors", descriptors},
	{"leave_descriptors", leave_descriptors},
	{"close_early", close_early},
	{"close_late", close_late},
	{"close_and_fork", close_and_fork},
};

int main(int argc, char **argv)
{
	for (unsigned i = 0; argc == 2 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strcmp(argv[1], modes[i].name) == 0)
			return modes[i].run(argv[0]);
	fprintf(stderr, "children: which mode?\n");
	return 2;
}
