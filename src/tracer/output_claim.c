#include "tracer/output_claim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tracer/output_folder.h"

#include "tracer/banned.h"

enum {
	TRIES = 8,
	OLD_MAX = 10000
};

/*
 * For a file system without exclusive renames: an empty file takes the name first, locked
 * so that nobody moves it away, and then is replaced.  Not by link() and unlink(): network
 * file systems keep a file that is open, under another name, when one of its names goes.
 */
static int rename_onto_own(const char *from, const char *to)
{
	int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600);
	int result, error;

	if (fd < 0)
		return -1;
	flock(fd, LOCK_EX | LOCK_NB);
	result = rename(from, to);
	error = errno;
	if (result < 0)
		unlink(to);
	close(fd);
	errno = error;
	return result;
}

/* Rename without ever overwriting what is somebody else's. */
static int rename_exclusive(const char *from, const char *to)
{
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	return errno == EINVAL || errno == ENOSYS ? rename_onto_own(from, to) : -1;
}

/* Move what stands at `name` to the first free of name.old, name.old.2, ... */
static bool move_aside(const struct output_name *name)
{
	struct output_name old;

	for (unsigned i = 1; i < OLD_MAX; i++) {
		int size =
			i == 1 ? snprintf(old.path, sizeof(old.path), "%s.old", name->path)
			       : snprintf(old.path, sizeof(old.path), "%s.old.%u", name->path, i);

		if (size < 0 || (size_t)size >= sizeof(old.path))
			return false;
		if (rename_exclusive(name->path, old.path) == 0)
			return true;
		if (errno != EEXIST)
			return errno == ENOENT;
	}
	return false;
}

enum standing {
	STANDING_FREE,
	STANDING_OLD,
	STANDING_IN_USE
};

/* Written to since `since`: it belongs to this run, from a process that has ended. */
static bool is_of_this_run(const struct stat *file, uint64_t since)
{
	return (uint64_t)file->st_mtim.tv_sec * 1000000000u + (uint64_t)file->st_mtim.tv_nsec >=
	       since;
}

static enum standing look(const struct output_name *name, uint64_t since)
{
	enum standing standing = STANDING_OLD;
	struct stat here, open_file;
	int fd = open(name->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);

	if (fd < 0)
		return errno == ENOENT ? STANDING_FREE : STANDING_IN_USE;
	if (flock(fd, LOCK_SH | LOCK_NB) < 0)
		standing = STANDING_IN_USE;
	else if (fstat(fd, &open_file) < 0 || stat(name->path, &here) < 0 ||
		 here.st_ino != open_file.st_ino || !S_ISREG(open_file.st_mode))
		standing = STANDING_IN_USE; /* somebody is at it, or it is no file */
	else if (is_of_this_run(&open_file, since))
		standing = STANDING_IN_USE;
	close(fd);
	return standing;
}

bool output_claim(struct output_name *name, const struct output_name *temporary, uint64_t since)
{
	struct output_name asked = *name;

	for (unsigned i = 0; i < TRIES; i++) {
		if (rename_exclusive(temporary->path, name->path) == 0)
			return true;
		if (errno != EEXIST)
			return false;
		switch (look(name, since)) {
		case STANDING_FREE:
			break;
		case STANDING_OLD:
			if (!move_aside(name))
				return false;
			break;
		case STANDING_IN_USE:
			if (!output_name_with_pid(name, &asked, getpid()))
				return false;
			break;
		}
	}
	return false;
}

struct ranks {
	struct output_name name; /* without a rank */
	size_t rank;		 /* its place */
	size_t folder;		 /* bytes before the file's name */
	uint64_t since;
	bool claimed;
};

static bool look_at_rank(int folder, const char *file, void *data)
{
	struct ranks *ranks = data;
	const char *before = ranks->name.path + ranks->folder;
	size_t length = ranks->rank - ranks->folder;
	size_t digits = strncmp(file, before, length) ? 0 : strspn(file + length, "0123456789");
	struct output_name name;
	int size;

	(void)folder;
	if (!digits || strcmp(file + length + digits, before + length) != 0)
		return true;
	size = snprintf(name.path, sizeof(name.path), "%.*s%s", (int)ranks->folder,
			ranks->name.path, file);
	ranks->claimed =
		size > 0 && (size_t)size < sizeof(name.path) && output_claimed(&name, ranks->since);
	return !ranks->claimed;
}

bool output_ranks_claimed(uint64_t since)
{
	struct ranks ranks = {.since = since};
	char path[OUTPUT_NAME_MAX];
	int saved = errno;
	const char *slash;
	int folder;

	if (output_rank() || !output_name_of_ranks(&ranks.name, &ranks.rank))
		return false;
	slash = strrchr(ranks.name.path, '/');
	ranks.folder = slash ? (size_t)(slash - ranks.name.path) + 1 : 0;
	snprintf(path, sizeof(path), "%.*s.", (int)ranks.folder, ranks.name.path);
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder >= 0) {
		output_folder_each(folder, look_at_rank, &ranks);
		close(folder);
	}
	errno = saved;
	return ranks.claimed;
}

bool output_claimed(const struct output_name *name, uint64_t since)
{
	return look(name, since) == STANDING_IN_USE;
}
