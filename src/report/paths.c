#include "report/paths.h"

#include <string.h>

/* Append one part; `used` bytes of `path` are in use, and stay below PATH_SIZE. */
static size_t append(char *path, size_t used, const char *bytes, size_t size)
{
	if (size > PATH_SIZE - 1 - used)
		size = PATH_SIZE - 1 - used;
	for (size_t i = 0; i < size; i++)
		path[used + i] = bytes[i] ? bytes[i] : '?';
	path[used + size] = '\0';
	return used + size;
}

/* Remove the last part, its slash included. */
static size_t step_up(char *path, size_t used)
{
	while (used && path[used - 1] != '/')
		used--;
	if (used)
		used--;
	path[used] = '\0';
	return used;
}

static size_t append_parts(char *path, size_t used, struct text file)
{
	const char *at = file.bytes;
	const char *end = at + file.size;

	while (at < end) {
		const char *slash = memchr(at, '/', (size_t)(end - at));
		size_t size = (size_t)((slash ? slash : end) - at);

		if (size == 2 && memcmp(at, "..", 2) == 0) {
			used = step_up(path, used);
		} else if (size && !(size == 1 && *at == '.')) {
			used = append(path, used, "/", 1);
			used = append(path, used, at, size);
		}
		at += size + 1;
	}
	return used;
}

void path_absolute(char path[PATH_SIZE], struct text folder, struct text file)
{
	size_t used = 0;

	path[0] = '\0';
	if (!file.size)
		return;
	if (folder.size > PATH_SIZE)
		folder.size = PATH_SIZE;
	if (file.size > PATH_SIZE)
		file.size = PATH_SIZE;
	if (file.bytes[0] == '<' || file.bytes[0] == '?' ||
	    (file.bytes[0] != '/' && !folder.size)) {
		append(path, 0, file.bytes, file.size);
		return;
	}
	if (file.bytes[0] != '/')
		used = append_parts(path, used, folder);
	append_parts(path, used, file);
}

void path_parent(char *path)
{
	step_up(path, strlen(path));
}

const char *path_below(const char *path, struct text folder)
{
	while (folder.size && folder.bytes[folder.size - 1] == '/')
		folder.size--;
	if (!folder.size || strncmp(path, folder.bytes, folder.size) != 0 ||
	    path[folder.size] != '/')
		return NULL;
	return path + folder.size + 1;
}

/* The last two parts: enough to tell files apart, and the same on every machine. */
static const char *last_parts(const char *file)
{
	const char *at = file + strlen(file);
	unsigned slashes = 0;

	while (at > file && slashes < 2)
		slashes += *--at == '/';
	return *at == '/' ? at + 1 : at;
}

void path_relative(char path[PATH_SIZE], const char *folder, const char *file)
{
	size_t common = 0;
	size_t used = 0;

	for (size_t i = 0;; i++) {
		bool folder_part = folder[i] == '/' || !folder[i];

		if (folder_part && (file[i] == '/' || !file[i]))
			common = i;
		if (!folder[i] || !file[i] || folder[i] != file[i])
			break;
	}
	path[0] = '\0';
	if (file[0] != '/' || !common) {
		file = file[0] == '/' ? last_parts(file) : file;
		append(path, 0, file, strlen(file));
		return;
	}
	for (const char *at = folder + common; *at; at++)
		if (*at == '/')
			used = append(path, used, "../", 3);
	file += common;
	while (*file == '/')
		file++;
	append(path, used, file, strlen(file));
}
