#include "launcher/locate.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/say.h"

/* Folder of the running launcher; "." when /proc is not there. */
static char *own_folder(void)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	if (length <= 0)
		return text_format(".");
	path[length] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return text_format(".");
	*slash = '\0';
	return text_format("%s", path);
}

/* First of the places that holds `file`: the build folder, then those of an installation. */
static char *find(const char *own, const char *file)
{
	/* Relative to the folder of programs; the build gives the installation's. */
	static const char *const places[] = {".", GPULEAK_LIBRARIES "/gpuleak", GPULEAK_LIBRARIES};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char *path = text_format("%s/%s/%s", own, places[i], file);
		char *whole = realpath(path, NULL);

		free(path);
		if (whole)
			return whole;
	}
	return NULL;
}

void parts_find(struct parts *parts)
{
	char *own = own_folder();

	parts->tracer = find(own, "libgpuleak.so");
	parts->report = find(own, "gpuleak-report");
	parts->sim = find(own, "sim/libgpuleak-sim.so");
	free(own);
}

void parts_release(struct parts *parts)
{
	free(parts->tracer);
	free(parts->report);
	free(parts->sim);
	*parts = (struct parts){0};
}

void part_missing(const char *file)
{
	char *own = own_folder();

	say("%s is neither in %s nor in %s/%s/gpuleak: build it with scripts/setup.sh or install "
	    "gpuleak again",
	    file, own, own, GPULEAK_LIBRARIES);
	free(own);
}
