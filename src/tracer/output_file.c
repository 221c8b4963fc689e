#include "tracer/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "tracer/file_system.h"
#include "tracer/memory.h"
#include "tracer/notice.h"
#include "tracer/output_claim.h"
#include "tracer/output_leftovers.h"
#include "tracer/settings.h"
#include "tracer/slot_file.h"

#include "tracer/banned.h"

enum {
	TEMPORARY_TRIES = 100,
	HIGH_FD = 1000
};

static bool fail(struct output_file *file, const char *what, int error)
{
	char text[128] = "";
	const char *reason = error ? strerror_r(error, text, sizeof(text)) : "";

	snprintf(file->why, sizeof(file->why), "%.160s%s%.80s", what, error ? ": " : "", reason);
	return false;
}

/* A write past RLIMIT_FSIZE raises SIGXFSZ, which kills: look first. */
static bool limit_allows(uint64_t size)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) < 0)
		return true;
	return limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= size;
}

/* Some file systems don't tell: all zero. */
static bool has_room(int fd, uint64_t size)
{
	struct statvfs space;

	return fstatvfs(fd, &space) < 0 || space.f_blocks == 0 ||
	       (uint64_t)space.f_bavail * space.f_frsize >= size;
}

/* posix_fallocate() writes a zero to each block where the file system can't allocate. */
static int allocate(int fd, uint64_t size)
{
	if (fallocate(fd, 0, 0, (off_t)size) == 0)
		return 0;
	if (errno != EOPNOTSUPP && errno != ENOSYS)
		return errno;
	return posix_fallocate(fd, 0, (off_t)size);
}

static bool name_temporary(struct output_file *file, unsigned attempt)
{
	const char *slash = strrchr(file->name.path, '/');
	int folder = slash ? (int)(slash - file->name.path) + 1 : 0;
	int size = snprintf(file->temporary.path, sizeof(file->temporary.path),
			    "%.*s.%s.%ld.%u.tmp", folder, file->name.path, file->name.path + folder,
			    (long)getpid(), attempt);

	return size > 0 && (size_t)size < sizeof(file->temporary.path);
}

static bool make_mapped(struct output_file *file, uint64_t size)
{
	int error = allocate(file->fd, size);
	void *bytes;

	if (error)
		return fail(file, "no room for the trace", error);
	bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, 0);
	if (bytes == MAP_FAILED)
		return fail(file, "can't map the trace", errno);
	file->bytes = bytes;
	return true;
}

/*
 * A number that the target doesn't get by opening files: it takes the lowest one that is
 * free, and our writes mustn't go to a file of its own.
 */
static void move_high(struct output_file *file)
{
	struct rlimit limit;
	int from = HIGH_FD, high;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 2 < HIGH_FD)
		from = (int)(limit.rlim_cur / 2);
	high = fcntl(file->fd, F_DUPFD_CLOEXEC, from);
	if (high < 0)
		return;
	close(file->fd);
	file->fd = high;
}

static bool make_slotted(struct output_file *file, uint64_t size)
{
	int error;

	move_high(file);
	error = slot_file_make(file->fd, size);
	if (error)
		return fail(file, "can't write the trace", error);
	file->bytes = memory_take_sparse(size);
	if (!file->bytes)
		return fail(file, "no memory for the trace", errno);
	file->slotted = true;
	return true;
}

/* The file is open.  Maps it or makes it for slots. */
static bool make_open(struct output_file *file, uint64_t size)
{
	bool slotted = settings.writer == SETTINGS_WRITER_SLOTS;

	if (settings.writer == SETTINGS_WRITER_AUTO)
		slotted = !file_system_is_local(file->fd);
	if (!limit_allows(slotted ? slot_file_size(size) : size))
		return fail(file, "the limit on file sizes (ulimit -f) is below GPULEAK_SIZE", 0);
	if (!has_room(file->fd, size))
		return fail(file, "no room for the trace", ENOSPC);
	if (slotted ? !make_slotted(file, size) : !make_mapped(file, size))
		return false;
	/* A child of fork gets a trace of its own. */
	madvise(file->bytes, size, MADV_DONTFORK);
	file->size = size;
	return true;
}

/* False when another process took the file for a leftover before it was locked. */
static bool lock(struct output_file *file)
{
	bool taken = flock(file->fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	struct stat made;

	if (!taken && (fstat(file->fd, &made) < 0 || made.st_nlink > 0))
		return true;
	close(file->fd);
	file->fd = -1;
	return false;
}

/*
 * In a container each run has the same pid: one that was killed before its first event
 * left a file of that name.
 */
static bool open_temporary(struct output_file *file)
{
	int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY;

	for (unsigned attempt = 0; attempt < TEMPORARY_TRIES; attempt++) {
		if (!name_temporary(file, attempt))
			return fail(file, "the trace's name is too long", 0);
		file->fd = open(file->temporary.path, flags, 0600);
		if (file->fd < 0 && errno != EEXIST)
			break;
		if (file->fd >= 0 && lock(file))
			return true;
	}
	return fail(file, file->temporary.path, errno);
}

/* To know the file by, when the target has closed our descriptor. */
static bool remember(struct output_file *file)
{
	struct stat made;

	if (fstat(file->fd, &made) < 0)
		return fail(file, file->temporary.path, errno);
	file->device = made.st_dev;
	file->inode = made.st_ino;
	return true;
}

static bool make_here(struct output_file *file, uint64_t size)
{
	if (!open_temporary(file))
		return false;
	if (remember(file) && make_open(file, size)) {
		output_remove_leftovers(&file->temporary);
		return true;
	}
	unlink(file->temporary.path);
	close(file->fd);
	file->fd = -1;
	return false;
}

/* Elsewhere, when the folder asked for can't hold the file. */
static bool make_elsewhere(struct output_file *file, uint64_t size)
{
	const char *folders[] = {getenv("SLURM_TMPDIR"), getenv("TMPDIR"), "/tmp"};
	struct output_name asked = file->name;

	for (unsigned i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		if (!folders[i] || folders[i][0] != '/')
			continue;
		if (output_name_in(&file->name, folders[i], &asked) && make_here(file, size)) {
			notice_say("can't write ", asked.path, ": the trace is ", file->name.path,
				   NULL);
			return true;
		}
	}
	file->name = asked;
	return false;
}

bool output_file_make(struct output_file *file, uint64_t size)
{
	int saved = errno;
	bool made;
	char why[sizeof(file->why)];

	memset(file, 0, sizeof(*file));
	file->fd = -1;
	if (!output_name_make(&file->name))
		return fail(file, "the trace's name is empty or too long", 0);
	made = make_here(file, size);
	if (!made) {
		memcpy(why, file->why, sizeof(why));
		made = make_elsewhere(file, size);
		if (!made)
			memcpy(file->why, why, sizeof(why));
	}
	errno = saved;
	return made;
}

bool output_file_publish(struct output_file *file)
{
	int saved = errno;

	file->published = output_claim(&file->name, &file->temporary, settings.run_started);
	if (!file->published)
		fail(file, file->name.path, errno);
	errno = saved;
	return file->published;
}

bool output_file_superfluous(const struct output_file *file)
{
	int saved = errno;
	bool claimed = output_claimed(&file->name, settings.run_started) ||
		       output_ranks_claimed(settings.run_started);

	errno = saved;
	return claimed;
}

void output_file_discard(struct output_file *file)
{
	int saved = errno;

	if (file->bytes && !file->published)
		unlink(file->temporary.path);
	errno = saved;
}

static bool is_ours(const struct output_file *file, int fd)
{
	struct stat now;

	return fd >= 0 && fstat(fd, &now) == 0 && now.st_dev == file->device &&
	       now.st_ino == file->inode;
}

bool output_file_find(struct output_file *file)
{
	const struct output_name *name = file->published ? &file->name : &file->temporary;
	int fd;

	if (is_ours(file, file->fd))
		return true;
	fd = open(name->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
	if (!is_ours(file, fd)) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	flock(fd, LOCK_EX | LOCK_NB);
	file->fd = fd;
	move_high(file);
	return true;
}

void output_file_forget(struct output_file *file)
{
	int saved = errno;

	if (is_ours(file, file->fd))
		close(file->fd);
	file->fd = -1;
	file->bytes = NULL; /* MADV_DONTFORK: not mapped here */
	errno = saved;
}
