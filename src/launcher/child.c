#include "launcher/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launcher/say.h"

/* Signals that are the program's business: the launcher must live on for the report. */
static const int passed_on[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

/* What the launcher was started with, and gives to its children. */
struct signal_state {
	sigset_t mask;
	struct sigaction on_child;
};

/* From here on the signals wait for sigwaitinfo().  One that is ignored stays so. */
static void signals_hold(struct signal_state *before, sigset_t *held)
{
	struct sigaction usual = {.sa_handler = SIG_DFL};

	sigemptyset(held);
	sigaddset(held, SIGCHLD);
	for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
		sigaddset(held, passed_on[i]);
	sigaction(SIGCHLD, &usual, &before->on_child); /* ignored, it would eat the exit code */
	sigprocmask(SIG_BLOCK, held, &before->mask);
}

static void signals_release(const struct signal_state *before)
{
	sigaction(SIGCHLD, &before->on_child, NULL);
	sigprocmask(SIG_SETMASK, &before->mask, NULL);
}

/* In the child: become the program.  Comes back only to tell the reason through `failed`. */
static void become(char *const argv[], const struct environment *environment,
		   struct child_output output, const struct signal_state *before, int failed)
{
	int reason;

	if (output.out >= 0)
		dup2(output.out, STDOUT_FILENO);
	if (output.err >= 0)
		dup2(output.err, STDERR_FILENO);
	if (environment)
		environment_apply(environment);
	signals_release(before);
	execvp(argv[0], argv);
	reason = errno;
	if (write(failed, &reason, sizeof(reason)) < 0)
		_exit(126);
	_exit(reason == ENOENT ? 127 : 126);
}

/*
 * The child, to be waited for, or -1.  `*reason` is 0 when it has become the
 * program; else an errno says why not.
 */
static pid_t start(char *const argv[], const struct environment *environment,
		   struct child_output output, const struct signal_state *before, int *reason)
{
	int failed[2];
	pid_t child;
	ssize_t got;

	*reason = 0;
	if (pipe2(failed, O_CLOEXEC) < 0) {
		*reason = errno;
		return -1;
	}
	child = fork();
	if (child == 0) {
		close(failed[0]);
		become(argv, environment, output, before, failed[1]);
	}
	if (child < 0)
		*reason = errno;
	close(failed[1]);
	do {
		got = child > 0 ? read(failed[0], reason, sizeof(*reason)) : 0;
	} while (got < 0 && errno == EINTR);
	close(failed[0]);
	return child;
}

static struct child_end end_of(int status)
{
	struct child_end end = {0};

	if (WIFSIGNALED(status)) {
		end.signal = WTERMSIG(status);
		end.code = 128 + end.signal;
	} else {
		end.code = WEXITSTATUS(status);
	}
	return end;
}

/*
 * What a terminal sends (SI_KERNEL) goes to the whole foreground group, so the child
 * has it already; a kill() of the launcher's pid must be repeated.
 */
static struct child_end wait_for(pid_t child, const sigset_t *held)
{
	siginfo_t info;
	int status;

	for (;;) {
		pid_t ended = waitpid(child, &status, WNOHANG);

		if (ended == child)
			return end_of(status);
		if (ended < 0)
			return (struct child_end){.code = 126};
		if (sigwaitinfo(held, &info) < 0 || info.si_signo == SIGCHLD)
			continue;
		if (info.si_code != SI_KERNEL)
			kill(child, info.si_signo);
	}
}

/* What came as the child ended was meant for it, and must not end the launcher now. */
static void signals_forget(const sigset_t *held)
{
	struct timespec at_once = {0};

	while (sigtimedwait(held, NULL, &at_once) > 0)
		continue;
}

struct child_end child_run(char *const argv[], const struct environment *environment,
			   struct child_output output)
{
	struct child_end end = {.code = 126};
	struct signal_state before;
	sigset_t held;
	pid_t child;
	int reason;

	signals_hold(&before, &held);
	child = start(argv, environment, output, &before, &reason);
	if (child > 0)
		end = wait_for(child, &held);
	end.started = reason == 0;
	signals_forget(&held);
	signals_release(&before);
	if (reason)
		say("cannot start %s: %s", argv[0], strerror(reason));
	return end;
}

/* Read until the other side closes, is silent for `seconds`, or fills `text`. */
static bool read_all(int from, int seconds, char *text, unsigned long size)
{
	struct pollfd ready = {.fd = from, .events = POLLIN};
	unsigned long used = 0;
	ssize_t got = 1;

	while (got > 0 && used + 1 < size) {
		int now = poll(&ready, 1, seconds * 1000);

		if (now < 0 && errno == EINTR)
			continue;
		if (now <= 0)
			break;
		got = read(from, text + used, size - 1 - used);
		if (got > 0)
			used += (unsigned long)got;
	}
	text[used] = '\0';
	return got == 0;
}

struct child_end child_capture(char *const argv[], const struct environment *environment,
			       int seconds, char *text, unsigned long size)
{
	struct child_end end = {.code = 126};
	struct signal_state before;
	int status = 0;
	sigset_t held;
	int out[2];
	int reason;
	pid_t child;

	text[0] = '\0';
	if (pipe2(out, O_CLOEXEC) < 0)
		return end;
	signals_hold(&before, &held);
	child = start(argv, environment, (struct child_output){out[1], out[1]}, &before, &reason);
	signals_release(&before);
	close(out[1]);
	if (child > 0) {
		if (!read_all(out[0], seconds, text, size))
			kill(child, SIGKILL);
		while (waitpid(child, &status, 0) < 0 && errno == EINTR)
			continue;
		end = end_of(status);
		end.started = reason == 0;
	}
	if (reason)
		snprintf(text, size, "%s\n", strerror(reason));
	close(out[0]);
	return end;
}
