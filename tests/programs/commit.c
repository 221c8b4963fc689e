/*
 * Steps through marks one instruction at a time.  After each, what the trace says must be
 * what the last mark said, or what the new one says: as if the process were killed there.
 *
 * Usage: commit marks|anew TRACER TRACE COPIES PROGRAM ARGUMENT...
 * The program runs under the preloaded TRACER and stops itself (SIGSTOP) before and after
 * what is to be looked at: one mark, or (`anew`) whatever may begin the count anew; then
 * the trace may also say for a while that there is no mark.  Some of the states in between
 * are kept as COPIES.N: all that differ while the count begins anew.
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
	LOOK_EVERY = 499,  /* the same, where the count begins anew */
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
static uint8_t *kept; /* what the last copy had, while the count began anew */
static const char *copies;
static unsigned copies_made, looked_at;
static bool anew;
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

static bool under_way(void)
{
	const struct gpuleak_state *state = section(GPULEAK_SECTION_STATE, NULL);

	return state->begun != 0;
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

/* What is zero becomes a hole. */
static void write_copy(int fd, const char *path)
{
	static const uint8_t zeros[GPULEAK_PAGE];

	for (size_t at = 0; at < mapped_size; at += sizeof(zeros)) {
		size_t size = mapped_size - at < sizeof(zeros) ? mapped_size - at : sizeof(zeros);

		if (memcmp(mapped + at, zeros, size) != 0 &&
		    pwrite(fd, mapped + at, size, (off_t)at) != (ssize_t)size)
			die(path);
	}
	if (ftruncate(fd, (off_t)mapped_size) < 0)
		die(path);
}

static void keep_copy(void)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s.%u", copies, copies_made++);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		die(path);
	write_copy(fd, path);
	if (close(fd) < 0)
		die(path);
}

/* One store more than in the last copy. */
static void keep_if_changed(void)
{
	if (memcmp(kept, mapped, mapped_size) == 0)
		return;
	memcpy(kept, mapped, mapped_size);
	keep_copy();
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
	kept = calloc(1, mapped_size);
	if (!kept)
		die("calloc");
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

/* From one mark to the next, or to none and from there to the first. */
static bool may_follow(uint64_t before, uint64_t now)
{
	return now == before + 1 || (anew && now == 0);
}

/* What the trace has said since it last changed, and what it says now. */
struct look {
	struct view last, now;
	unsigned changes;
	unsigned long since; /* the last change, in instructions */
};

/* False when what the trace says now is not as it may be. */
static bool look(struct look *look, unsigned long step)
{
	struct view was = look->last;

	take_view(&look->now);
	if (look->now.committed == was.committed) {
		look->since++;
		if (anew && (!under_way() || step % LOOK_EVERY == 0))
			keep_if_changed();
		else if (step % COPY_EVERY == 0)
			keep_copy();
		return !wrong(&look->now, &look->last, step);
	}
	if (!may_follow(was.committed, look->now.committed)) {
		fprintf(stderr, "mark %llu after mark %llu\n",
			(unsigned long long)look->now.committed, (unsigned long long)was.committed);
		return false;
	}
	look->last = look->now;
	look->now = was;
	look->changes++;
	look->since = 0;
	keep_copy();
	return true;
}

/*
 * Steps through one mark, or up to the child's next stop; `stop` gets the signal at which
 * it is in the end.  False when a state was a mixture.
 */
static bool step_through(pid_t child, int *stop, struct look *at)
{
	int code;

	take_view(&at->last);
	at->changes = 0;
	at->since = 0;
	keep_copy();
	for (unsigned long step = 1; step < LIMIT; step++) {
		if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) < 0)
			die("PTRACE_SINGLESTEP");
		*stop = wait_stop(child, &code);
		if (*stop != SIGTRAP)
			break;
		instructions++;
		if (!look(at, step))
			return false;
		if (at->changes && at->last.committed && at->since == AFTER)
			break;
	}
	if (anew ? at->last.committed < 2 : at->changes == 1)
		return true;
	fprintf(stderr, "commit: mark %llu at the next stop\n",
		(unsigned long long)at->last.committed);
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
	struct look at = {.last.bytes = malloc(VIEW_SIZE), .now.bytes = malloc(VIEW_SIZE)};
	int code = 1;
	pid_t child;
	int stop;

	if (argc < 6 || !at.last.bytes || !at.now.bytes)
		return 2;
	anew = strcmp(argv[1], "anew") == 0;
	copies = argv[4];
	child = start(argv[2], argv + 5);
	stop = wait_stop(child, &code); /* at its execve() */
	if (stop < 0)
		return code;
	for (stop = go_on(child, &code); stop >= 0; stop = go_on(child, &code)) {
		if (!mapped)
			map_trace(argv[3]);
		if (!step_through(child, &stop, &at)) {
			kill(child, SIGKILL);
			return 1;
		}
		looked_at++;
		if (stop != SIGSTOP && go_on(child, &code) < 0)
			break;
	}
	printf("%u looked at, %llu instructions, %u copies\n", looked_at, instructions,
	       copies_made);
	return code;
}
