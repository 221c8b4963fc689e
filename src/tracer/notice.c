#include "tracer/notice.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "tracer/banned.h"
#include "tracer/settings.h"

enum {
	LINE_MAX_BYTES = 1024
};

/* One write(2), so that lines of several processes don't mix. */
static void write_whole(const char *bytes, size_t left)
{
	while (left > 0) {
		ssize_t done = write(STDERR_FILENO, bytes, left);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return;
		bytes += done;
		left -= (size_t)done;
	}
}

static size_t append(char *line, size_t used, const char *part)
{
	size_t size = strlen(part);

	if (size > LINE_MAX_BYTES - 1 - used)
		size = LINE_MAX_BYTES - 1 - used;
	memcpy(line + used, part, size);
	return used + size;
}

void notice_say(const char *part, ...)
{
	char line[LINE_MAX_BYTES];
	size_t used = append(line, 0, "gpuleak: ");
	int saved = errno;
	va_list parts;

	if (settings.quiet)
		return;
	va_start(parts, part);
	for (; part; part = va_arg(parts, const char *))
		used = append(line, used, part);
	va_end(parts);
	line[used++] = '\n';
	write_whole(line, used);
	errno = saved;
}
