#include "sim/core/notice.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

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

long gpusim_unsupported(atomic_flag *said, const char *function, const char *library, long error)
{
	if (!atomic_flag_test_and_set(said))
		say("gpuleak: simulated GPU: %s of %s is not simulated and returned error %ld; "
		    "please report it on gpuleak's issue tracker\n",
		    function, library, error);
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
