#include "sim/core/notice.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	LONGEST = 1024,
	VERSION = 64
};

/* One write(2), so that lines of several processes don't mix. */
__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	int saved = errno;
	char line[512];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (length > (int)sizeof(line) - 1)
		length = sizeof(line) - 1;
	if (length > 0 && write(STDERR_FILENO, line, (size_t)length) < 0)
		errno = 0; /* nowhere left to say it */
	errno = saved;
}

/* The folder of PyTorch's libraries, from whichever of them is loaded. */
static int look_at_library(struct dl_phdr_info *info, size_t size, void *folder)
{
	const char *end = info->dlpi_name ? strstr(info->dlpi_name, "/torch/lib/lib") : NULL;

	(void)size;
	if (!end || (size_t)(end - info->dlpi_name) > LONGEST / 2)
		return 0;
	sprintf(folder, "%.*s", (int)(end - info->dlpi_name), info->dlpi_name);
	return 1;
}

/* As torch/version.py has it; "" where there's no such file. */
static void find_torch_version(char version[VERSION])
{
	char path[LONGEST] = "", text[1024];
	const char *found;
	ssize_t length;
	int fd;

	version[0] = 0;
	if (!dl_iterate_phdr(look_at_library, path))
		return;
	strcat(path, "/torch/version.py");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[length > 0 ? length : 0] = 0;
	found = strstr(text, "__version__ = '");
	if (found)
		sscanf(found, "__version__ = '%63[^'\n]", version);
}

long gpusim_unsupported(atomic_flag *said, const char *function, const char *library, long error)
{
	char version[VERSION];
	int saved = errno;

	if (atomic_flag_test_and_set(said))
		return error;
	find_torch_version(version);
	say("gpuleak: simulated GPU: %s of %s is not simulated and returned error %ld; please "
	    "report "
	    "it on gpuleak's issue tracker%s%s\n",
	    function, library, error, *version ? ", with PyTorch's version: " : "", version);
	errno = saved;
	return error;
}

void gpusim_complain(const char *setting, const char *value, const char *instead)
{
	say("gpuleak: simulated GPU: %s=%s makes no sense; using %s\n", setting, value, instead);
}

void gpusim_waited(int rank, int other, int seconds)
{
	say("gpuleak: simulated GPU: rank %d waited %d s for rank %d in an NCCL collective; it "
	    "goes "
	    "on, and waits for no rank of that communicator any more\n",
	    rank, seconds, other);
}
