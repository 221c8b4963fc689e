#include "report/source_line.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	SOURCE_MAX = 16 << 20 /* bytes of a file that is looked through */
};

static bool unchanged(const struct stat *status, uint64_t started)
{
	uint64_t changed =
		(uint64_t)status->st_mtim.tv_sec * 1000000000 + (uint64_t)status->st_mtim.tv_nsec;

	return S_ISREG(status->st_mode) && status->st_size <= SOURCE_MAX &&
	       status->st_mtim.tv_sec >= 0 && changed <= started;
}

static FILE *open_source(const char *path, uint64_t started)
{
	size_t size = strlen(path);
	struct stat status;
	FILE *file = NULL;
	int fd;

	if (path[0] != '/' || size < 4 || strcmp(path + size - 3, ".py") != 0)
		return NULL;
	/* Looked at before it is opened: opening a device can do something. */
	if (stat(path, &status) < 0 || !unchanged(&status, started))
		return NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &status) == 0 && unchanged(&status, started))
		file = fdopen(fd, "re");
	if (!file)
		close(fd);
	return file;
}

static char *trim(char *text)
{
	char *start = text + strspn(text, " \t\f");
	size_t size = strcspn(start, "\r\n");

	while (size && (start[size - 1] == ' ' || start[size - 1] == '\t'))
		size--;
	memmove(text, start, size);
	text[size] = '\0';
	return text;
}

char *source_line(const char *path, uint32_t line, uint64_t started)
{
	FILE *file = open_source(path, started);
	char *text = NULL;
	size_t room = 0;

	if (!file)
		return NULL;
	for (uint32_t i = 0; i < line; i++) {
		if (getline(&text, &room, file) < 0) {
			free(text);
			text = NULL;
			break;
		}
	}
	fclose(file);
	if (text && !trim(text)[0]) {
		free(text);
		text = NULL;
	}
	return text;
}
