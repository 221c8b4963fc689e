/*
 * Steps through marks one instruction at a time.  After each, what the trace says must be
 * what the last mark said, or what the new one says: as if the process were killed there.
 *
 * Usage: commit TRACER TRACE COPIES PROGRAM ARGUMENT...
 * The program runs under the preloaded TRACER and stops itself (SIGSTOP) before and after
 * each mark to be looked at.  Some of the states in between are kept as COPIES.N.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/format.h"
#include "trace/layout.h"

enum {
	VIEW_SIZE = 4 << 20,
	COPY_EVERY = 4999, /* instructions, a prime */
	AFTER = 2000,	   /* instructions looked at once the new mark counts */
	LIMIT = 4000000,   /* instructions of one mark: more is a hang */
};

/* What a reader gets, in one piece, so that two of them compare by memcmp(). */
struct view {
	uint64_t committed;
	size_t used;
	uint8_t *bytes;
};

static const uint8_t *mapped;
static size_t mapped_size;
static const char *copies;
static unsigned copies_made, marks_seen;
static unsigned long long instructions;

static void die(const char *what)
{
	fprintf(stderr, "commit: %s: %s\n", what, strerror(errno));
	exit(2);
}

static const void *section(uint32_t kind, uint64_t *size)
{
	const struct gpuleak_section *found =
		layout_section((const struct gpuleak_file_header *)mapped, kind);

	if (size)
		*size = found->size;
	return mapped + found->offset;
}

static void add(struct view *view, const void *bytes, size_t size)
{
	if (size > VIEW_SIZE - view->used) {
		fprintf(stderr, "commit: too many sites to look at\n");
		exit(2);
	}
	memcpy(view->bytes + view->used, bytes, size);
	view->used += size;
}

/* The rule of the format: the newest version that is not above the committed mark. */
static const void *newest(const void *versions, size_t size, uint64_t committed)
{
	const uint8_t *at = versions;
	const void *best = NULL;
	uint64_t best_mark = 0;

	for (unsigned i = 0; i < 2; i++) {
		uint64_t mark;

		memcpy(&mark, at + i * size, sizeof(mark));
		if (mark > best_mark && mark <= committed) {
			best_mark = mark;
			best = at + i * size;
		}
	}
	return best;
}

static void add_evidence(struct view *view, const struct gpuleak_evidence *evidence,
			 const struct gpuleak_evidence_version *version)
{
	add(view, version, sizeof(*version));
	add(view, &evidence->teeth[version - evidence->versions], sizeof(evidence->teeth[0]));
}

static void add_sites(struct view *view, const struct gpuleak_state *state)
{
	const struct gpuleak_site *sites = section(GPULEAK_SECTION_SITES, NULL);
	const struct gpuleak_evidence *evidence = section(GPULEAK_SECTION_EVIDENCE, NULL);

	for (uint64_t i = 0; i < state->sites_used; i++) {
		const struct gpuleak_site_version *site =
			newest(sites[i].versions, sizeof(sites[i].versions[0]), view->committed);
		const void *of_site = NULL;

		if (!site)
			continue;
		add(view, &i, sizeof(i));
		add(view, site, sizeof(*site));
		if (site->evidence)
			of_site = newest(evidence[site->evidence - 1].versions,
					 sizeof(evidence[0].versions[0]), view->committed);
		if (of_site)
			add_evidence(view, &evidence[site->evidence - 1], of_site);
	}
}

static void add_devices(struct view *view, const struct gpuleak_state *state)
{
	const struct gpuleak_device *devices = section(GPULEAK_SECTION_DEVICES, NULL);
	uint64_t timeline_size;
	const struct gpuleak_timeline_entry *timeline =
		section(GPULEAK_SECTION_TIMELINE, &timeline_size);
	uint64_t share = timeline_size / sizeof(*timeline) / GPULEAK_DEVICES_MAX / 2;

	for (uint64_t i = 0; i < state->devices; i++) {
		const struct gpuleak_device_version *device = newest(
			devices[i].versions, sizeof(devices[i].versions[0]), view->committed);

		if (!device)
			continue;
		add(view, device, sizeof(*device));
		add(view, timeline + (2 * i + device->timeline_half) * share,
		    device->timeline_count * sizeof(*timeline));
	}
}

static void take_view(struct view *view)
{
	const struct gpuleak_state *state = section(GPULEAK_SECTION_STATE, NULL);
	const void *mark;

	view->committed = state->committed;
	view->used = 0;
	mark = newest(state->marks, sizeof(state->marks[0]), view->committed);
	if (mark)
		add(view, mark, sizeof(state->marks[0]));
	add_devices(view, state);
	add_sites(view, state);
}

static bool same(const struct view *a, const struct view *b)
{
	return a->committed == b->committed && a->used == b->used &&
	       memcmp(a->bytes, b->bytes, a->used) == 0;
}

static void keep_copy(void)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s.%u", copies, copies_made++);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, mapped, mapped_size) != (ssize_t)mapped_size || close(fd) < 0)
		die(path);
}

static void map_trace(const char *path)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &status) < 0)
		die(path);
	mapped_size = (size_t)status.st_size;
	mapped = mmap(NULL, mapped_size, PROT_READ, MAP_SHARED, fd, 0);
	if (mapped == MAP_FAILED)
		die("mmap");
	close(fd);
}

/* The signal that the child stopped for, or -1 when it ended. */
static int wait_stop(pid_t child, int *code)
{
	int status;

	if (waitpid(child, &status, 0) < 0)
		die("waitpid");
	if (WIFSTOPPED(status))
		return WSTOPSIG(status);
	*code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return -1;
}

/* Goes on to the next stop, or to the end. */
static int go_on(pid_t child, int *code)
{
	int got;

	do {
		if (ptrace(PTRACE_CONT, child, NULL, NULL) < 0)
			die("PTRACE_CONT");
		got = wait_stop(child, code);
	} while (got >= 0 && got != SIGSTOP);
	return got;
}

static bool wrong(const struct view *now, const struct view *wanted, unsigned long step)
{
	if (same(now, wanted))
		return false;
	fprintf(stderr, "mark %llu, instruction %lu: a mixture of two marks (%zu bytes, not %zu)\n",
		(unsigned long long)now->committed, step, now->used, wanted->used);
	keep_copy();
	return true;
}

/*
 * Steps through one mark; `stop` gets the signal at which the child is in the end.
 * False when a state was a mixture.
 */
static bool step_through(pid_t child, int *stop, struct view *before, struct view *now,
			 struct view *after)
{
	unsigned long committed_for = 0;
	int code;

	take_view(before);
	after->committed = 0;
	keep_copy();
	for (unsigned long step = 1; step < LIMIT && committed_for < AFTER; step++) {
		if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) < 0)
			die("PTRACE_SINGLESTEP");
		*stop = wait_stop(child, &code);
		if (*stop != SIGTRAP)
			break;
		instructions++;
		take_view(now);
		if (now->committed == before->committed) {
			if (wrong(now, before, step))
				return false;
			if (step % COPY_EVERY == 0)
				keep_copy();
			continue;
		}
		if (committed_for++ == 0) {
			struct view first = *now;

			*now = *after;
			*after = first;
			keep_copy();
		} else if (wrong(now, after, step)) {
			return false;
		}
	}
	if (after->committed == before->committed + 1)
		return true;
	fprintf(stderr, "commit: no mark before the next stop\n");
	return false;
}

static pid_t start(const char *tracer, char **command)
{
	pid_t child = fork();

	if (child < 0)
		die("fork");
	if (child > 0)
		return child;
	setenv("LD_PRELOAD", tracer, 1);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
		_exit(77); /* not allowed in some containers */
	execv(command[0], command);
	_exit(127);
}

int main(int argc, char **argv)
{
	struct view before = {.bytes = malloc(VIEW_SIZE)};
	struct view now = {.bytes = malloc(VIEW_SIZE)};
	struct view after = {.bytes = malloc(VIEW_SIZE)};
	int code = 1;
	pid_t child;
	int stop;

	if (argc < 5 || !before.bytes || !now.bytes || !after.bytes)
		return 2;
	copies = argv[3];
	child = start(argv[1], argv + 4);
	stop = wait_stop(child, &code); /* at its execve() */
	if (stop < 0)
		return code;
	for (stop = go_on(child, &code); stop >= 0; stop = go_on(child, &code)) {
		if (!mapped)
			map_trace(argv[2]);
		if (!step_through(child, &stop, &before, &now, &after)) {
			kill(child, SIGKILL);
			return 1;
		}
		marks_seen++;
		if (stop != SIGSTOP && go_on(child, &code) < 0)
			break;
	}
	printf("%u marks, %llu instructions, %u copies\n", marks_seen, instructions, copies_made);
	return code;
}
