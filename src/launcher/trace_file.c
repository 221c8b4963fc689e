#include "launcher/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/say.h"
#include "trace/format.h"

static bool read_at(int fd, uint64_t offset, void *to, size_t size)
{
	return offset <= INT64_MAX && pread(fd, to, size, (off_t)offset) == (ssize_t)size;
}

static bool is_trace(int fd)
{
	char magic[sizeof(GPULEAK_MAGIC)];

	return read_at(fd, 0, magic, sizeof(magic)) &&
	       (memcmp(magic, GPULEAK_MAGIC, sizeof(magic)) == 0 ||
		memcmp(magic, GPULEAK_SLOTS_MAGIC, sizeof(magic)) == 0);
}

/* Where the trace begins: in a file with slots, that of the slot written last. */
static uint64_t trace_start(int fd)
{
	struct gpuleak_slots slots;
	const struct gpuleak_slot *first = &slots.slots[0];

	if (!read_at(fd, 0, &slots, sizeof(slots)) ||
	    memcmp(slots.magic, GPULEAK_SLOTS_MAGIC, sizeof(slots.magic)) != 0)
		return 0;
	return first[first[1].written > first[0].written].offset;
}

/* What an older version lacks is 0; all of it where the trace can't be read. */
static struct gpuleak_run run_of(int fd)
{
	uint64_t start = trace_start(fd);
	struct gpuleak_file_header header;
	struct gpuleak_run run = {0};

	if (!read_at(fd, start, &header, sizeof(header)))
		return run;
	for (size_t i = 0; i < GPULEAK_SECTIONS_MAX && i < header.section_count; i++) {
		const struct gpuleak_section *section = &header.sections[i];
		size_t size = section->item_size < sizeof(run) ? section->item_size : sizeof(run);

		if (section->kind == GPULEAK_SECTION_RUN &&
		    !read_at(fd, start + section->offset, &run, size))
			run = (struct gpuleak_run){0};
	}
	return run;
}

/*
 * The tracer holds an exclusive lock while it writes.  So with this lock, which lasts
 * until `fd` is closed, there is no writer.  errno is EWOULDBLOCK when there is one;
 * with another one the file system has no locks.
 */
static bool lock(int fd)
{
	return flock(fd, LOCK_SH | LOCK_NB) == 0;
}

/* The trace at `path`, or -1.  Never waits: the name may be that of a pipe. */
static int trace_open(const char *path, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return -1;
	if (fstat(fd, st) == 0 && S_ISREG(st->st_mode) && is_trace(fd))
		return fd;
	close(fd);
	return -1;
}

struct trace_look trace_look_at(const char *path)
{
	struct trace_look look = {.state = TRACE_NONE};
	struct stat st;
	int fd = trace_open(path, &st);
	struct gpuleak_run run;

	if (fd < 0)
		return look;
	run = run_of(fd);
	look = (struct trace_look){TRACE_WHOLE, st.st_dev, st.st_ino, st.st_uid, run.run_started};
	if (!lock(fd) && errno == EWOULDBLOCK)
		look.state = TRACE_RUNNING;
	else if (run.empty_why) /* what it says is read by gpuleak-report */
		look.state = TRACE_EMPTY;
	close(fd);
	return look;
}

/* Rename without taking the place of another file.  errno is EEXIST when there is one. */
static int rename_to_free(const char *from, const char *to)
{
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	/* A file system without that call: a hard link doesn't take a place either. */
	if (link(from, to) < 0)
		return -1;
	return unlink(from);
}

char *trace_put_aside(const char *path)
{
	char *aside = NULL;
	struct stat st;
	int fd = trace_open(path, &st);

	if (fd < 0)
		return NULL;
	if (!lock(fd)) {
		close(fd);
		return NULL;
	}
	for (unsigned i = 1; i < 100000; i++) {
		free(aside);
		aside = i == 1 ? text_format("%s.old", path) : text_format("%s.old.%u", path, i);
		if (rename_to_free(path, aside) == 0)
			break;
		if (errno == EEXIST)
			continue;
		say("cannot rename the old trace %s: %s", path, strerror(errno));
		free(aside);
		aside = NULL;
		break;
	}
	close(fd);
	return aside;
}
