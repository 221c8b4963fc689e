#include "tracer/output_leftovers.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/format.h"
#include "tracer/file_system.h"
#include "tracer/output_folder.h"

#include "tracer/banned.h"

/* The end of `text` without ".<digits>", or NULL when it doesn't end so. */
static const char *before_number(const char *text, const char *end)
{
	const char *at = end;

	while (at > text && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return at < end && at > text && at[-1] == '.' ? at - 1 : NULL;
}

/* ".<name of a trace>.<pid>.<number>.tmp" */
static bool has_form(const char *name)
{
	size_t size = strlen(name);
	const char *end = name + size - 4;

	if (size < 8 || name[0] != '.' || strcmp(end, ".tmp") != 0)
		return false;
	end = before_number(name, end);
	end = end ? before_number(name, end) : NULL;
	return end && end > name + 1;
}

/* The trace's header, or the zeros that are there before it. */
static bool holds_trace(int fd)
{
	static const uint8_t nothing[8];
	uint8_t start[8];
	ssize_t got = pread(fd, start, sizeof(start), 0);

	if (got == 0)
		return true;
	return got == sizeof(start) && (memcmp(start, nothing, sizeof(start)) == 0 ||
					memcmp(start, GPULEAK_MAGIC, sizeof(start)) == 0 ||
					memcmp(start, GPULEAK_SLOTS_MAGIC, sizeof(start)) == 0);
}

/*
 * A living writer has a lock on its file.  One that has made it and not locked it yet finds
 * its file gone, and makes another: see output_file.c.
 */
static bool remove_dead(int folder, const char *name, void *unused)
{
	int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
	struct stat file;
	int fd;

	(void)unused;
	fd = has_form(name) ? openat(folder, name, flags) : -1;
	if (fd < 0)
		return true;
	if (fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_uid == geteuid() &&
	    file.st_nlink == 1 && flock(fd, LOCK_EX | LOCK_NB) == 0 && holds_trace(fd))
		unlinkat(folder, name, 0);
	close(fd);
	return true;
}

void output_remove_leftovers(const struct output_name *temporary)
{
	char path[OUTPUT_NAME_MAX];
	const char *slash = strrchr(temporary->path, '/');
	int size = slash ? (int)(slash - temporary->path) + 1 : 0;
	int folder;

	snprintf(path, sizeof(path), "%.*s.", size, temporary->path);
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return;
	if (file_system_is_local(folder))
		output_folder_each(folder, remove_dead, NULL);
	close(folder);
}
