#include "launcher/loader_path.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/say.h"

static bool loader_can_take(const char *path)
{
	return !strpbrk(path, " :$");
}

/* FNV-1a: a short name for a long one. */
static uint64_t hash(const char *text)
{
	uint64_t value = 0xcbf29ce484222325u;

	for (; *text; text++)
		value = (value ^ (unsigned char)*text) * 0x100000001b3u;
	return value;
}

static const char *temporary_folder(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && folder[0] == '/' && loader_can_take(folder) ? folder : "/tmp";
}

/*
 * Whoever can write to the folder chooses what we load into the user's programs.
 * So it must be ours alone; in /tmp another user could have made it first.
 */
static bool folder_is_ours(const char *folder)
{
	struct stat st;

	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		return false;
	return lstat(folder, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       (st.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static bool link_leads_to(const char *link, const char *target)
{
	char now[PATH_MAX];
	ssize_t length = readlink(link, now, sizeof(now) - 1);

	if (length < 0)
		return false;
	now[length] = '\0';
	return strcmp(now, target) == 0;
}

/* Several launchers may do this at once: the link appears whole, by rename. */
static bool link_make(const char *link, const char *target)
{
	char *fresh;
	bool made;

	if (link_leads_to(link, target))
		return true;
	fresh = text_format("%s.%ld", link, (long)getpid());
	unlink(fresh); /* left by an earlier process of this number */
	made = symlink(target, fresh) == 0 && rename(fresh, link) == 0;
	if (!made)
		unlink(fresh);
	free(fresh);
	return made;
}

char *loader_path(const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	char *target, *folder, *link;
	char *result = NULL;

	if (loader_can_take(path))
		return text_format("%s", path);

	target = text_format("%.*s", (int)(name - 1 - path), path);
	folder = text_format("%s/gpuleak-%lu", temporary_folder(), (unsigned long)geteuid());
	link = text_format("%s/%016llx", folder, (unsigned long long)hash(target));
	if (folder_is_ours(folder) && link_make(link, target))
		result = text_format("%s/%s", link, name);
	else
		say("the loader takes no space, ':' or '$' in %s, and %s cannot hold a link to it: "
		    "move gpuleak, or set TMPDIR to a folder of your own",
		    path, folder);
	free(link);
	free(folder);
	free(target);
	return result;
}
