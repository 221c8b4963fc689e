/*
 * A library for LD_PRELOAD, before the tracer: makes a disk slow, full or broken.
 *
 *   GPULEAK_TEST_PWRITE="ACTION FROM COUNT ARGUMENT": what pwrite() does at its calls
 *   number FROM (from 1) to FROM + COUNT - 1:
 *     delay   wait ARGUMENT ms, then write
 *     fail    fail with errno ARGUMENT
 *     short   write no more than ARGUMENT bytes
 *     kill    write half of it, then SIGKILL to the process
 *   GPULEAK_TEST_FROM=PATH: counting begins when this file is there
 *   GPULEAK_TEST_FILE_SYSTEM=0x6969: what fstatfs() says it is
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset);
EXPORT int fstatfs(int fd, struct statfs *into);

static struct {
	char action[16];
	unsigned from, count;
	long argument;
} rule;

static _Atomic(unsigned) calls;

__attribute__((constructor)) static void read_rule(void)
{
	const char *text = getenv("GPULEAK_TEST_PWRITE");

	if (text && sscanf(text, "%15s %u %u %ld", rule.action, &rule.from, &rule.count,
			   &rule.argument) != 4)
		_exit(99);
}

static ssize_t write_plainly(int fd, const void *bytes, size_t size, off_t offset)
{
	return syscall(SYS_pwrite64, fd, bytes, size, offset);
}

static void delay(long ms)
{
	struct timespec left = {ms / 1000, ms % 1000 * 1000000};

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

EXPORT ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
	const char *from = getenv("GPULEAK_TEST_FROM");
	unsigned call = 0;

	if (!from || access(from, F_OK) == 0)
		call = atomic_fetch_add(&calls, 1) + 1;
	if (call == 0 || call < rule.from || call - rule.from >= rule.count)
		return write_plainly(fd, bytes, size, offset);
	if (strcmp(rule.action, "fail") == 0) {
		errno = (int)rule.argument;
		return -1;
	}
	if (strcmp(rule.action, "delay") == 0)
		delay(rule.argument);
	else if (strcmp(rule.action, "short") == 0 && size > (size_t)rule.argument)
		size = (size_t)rule.argument;
	else if (strcmp(rule.action, "kill") == 0)
		size /= 2;
	if (size)
		size = (size_t)write_plainly(fd, bytes, size, offset);
	if (strcmp(rule.action, "kill") == 0)
		kill(getpid(), SIGKILL);
	return (ssize_t)size;
}

EXPORT int fstatfs(int fd, struct statfs *into)
{
	const char *type = getenv("GPULEAK_TEST_FILE_SYSTEM");
	int failed = (int)syscall(SYS_fstatfs, fd, into);

	if (!failed && type)
		into->f_type = (__typeof__(into->f_type))strtoul(type, NULL, 16);
	return failed;
}
