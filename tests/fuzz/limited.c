#include "limited.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/run.h"

static const uint64_t memory_max = 1ull << 30;

/* Where reports go: opened once. */
static int out_fd = -1;
static int null_fd = -1;

static void open_outputs(void)
{
	if (out_fd >= 0)
		return;
	out_fd = memfd_create("report", MFD_CLOEXEC);
	null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (out_fd < 0 || null_fd < 0) {
		perror("memfd_create");
		exit(1);
	}
}

/* In a process of its own: as text with everything in it, or as JSON. */
static _Noreturn void report_alone(int trace_fd, bool json)
{
	static char path[32];
	static char program[] = "gpuleak-report", json_option[] = "--json", all_option[] = "--all",
		    peak_option[] = "--peak";
	char *arguments[] = {program, json ? json_option : all_option, peak_option, path, NULL};

	snprintf(path, sizeof(path), "/proc/self/fd/%d", trace_fd);
	dup2(json ? out_fd : null_fd, STDOUT_FILENO);
	if (!getenv("GPULEAK_SHOW"))
		dup2(null_fd, STDERR_FILENO);
	_exit(report_run(4, arguments));
}

/* The verdict of the trace stands on a line of its own. */
static void read_verdict(char verdict[VERDICT_SIZE])
{
	static char text[256 << 10];
	static const char *const before = "\n\"verdict\":\"";
	ssize_t size = pread(out_fd, text, sizeof(text) - 1, 0);
	char *at;

	verdict[0] = '\0';
	if (size <= 0)
		return;
	text[size] = '\0';
	at = strstr(text, before);
	if (at)
		snprintf(verdict, VERDICT_SIZE, "%.*s", (int)strcspn(at + strlen(before), "\""),
			 at + strlen(before));
}

/* Of the processor: how long it takes on the clock depends on what else runs here. */
static double processor_seconds(const struct rusage *usage)
{
	return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
	       (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

static void limit(void)
{
	struct rlimit seconds = {2 * LIMITED_SECONDS, 2 * LIMITED_SECONDS};

	setrlimit(RLIMIT_CPU, &seconds);
	alarm(12 * LIMITED_SECONDS); /* it hangs */
	if (!LIMITED_SANITIZED)
		setrlimit(RLIMIT_AS, &(struct rlimit){memory_max, memory_max});
}

static void report_once(int trace_fd, bool json, struct outcome *outcome)
{
	double seconds;
	struct rusage usage;
	int status, code;
	pid_t pid = fork();

	if (pid == 0) {
		limit();
		report_alone(trace_fd, json);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid) {
		perror("fork");
		exit(1);
	}
	code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	seconds = processor_seconds(&usage);
	if (code > outcome->code)
		outcome->code = code;
	if (seconds > outcome->seconds)
		outcome->seconds = seconds;
	if ((uint64_t)usage.ru_maxrss * 1024 > outcome->memory)
		outcome->memory = (uint64_t)usage.ru_maxrss * 1024;
}

void limited_report(int trace_fd, bool as_text, struct outcome *outcome)
{
	*outcome = (struct outcome){.code = 0};
	open_outputs();
	if (ftruncate(out_fd, 0) < 0 || lseek(out_fd, 0, SEEK_SET) < 0)
		exit(1);
	if (as_text)
		report_once(trace_fd, false, outcome);
	report_once(trace_fd, true, outcome);
	read_verdict(outcome->verdict);
}

bool limited_kept(const struct outcome *outcome)
{
	return outcome->code <= 3 && outcome->seconds <= LIMITED_SECONDS &&
	       outcome->memory <= memory_max;
}
