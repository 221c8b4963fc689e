/*
 * Loads one library where another one was, again and again, and allocates through each.
 * Usage: plugins FOLDER steps|straight (all in one step); prints how often one lay where the one
 * before was.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "gpuleak/gpuleak.h"

#include "fake.h"
#include "plugin.h"

#pragma weak gpuleak_step

enum {
	ROUNDS = 6,
	CALLS = 3
};

static const char *const names[] = {"plugin_one", "plugin_two"};

static void allocate(void *unused)
{
	(void)unused;
	fake_alloc(0, 512);
}

/* Through the library, which is gone then; where its function was. */
static void *call_once_loaded(const char *folder, const char *name)
{
	char path[4096];
	plugin_function *call;
	void *library, *function;

	snprintf(path, sizeof(path), "%s/lib%s.so", folder, name);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	function = library ? dlsym(library, name) : NULL;
	if (!function) {
		fprintf(stderr, "%s\n", dlerror());
		return NULL;
	}
	memcpy(&call, &function, sizeof(call));
	for (unsigned i = 0; i < CALLS; i++)
		call(allocate, NULL);
	dlclose(library);
	return function;
}

int main(int argc, char **argv)
{
	bool steps = argc > 2 && strcmp(argv[2], "steps") == 0;
	void *last = NULL;
	unsigned again = 0;

	allocate(NULL); /* what the tracer maps then mustn't take the libraries' place */
	for (unsigned i = 0; argc > 2 && i < 2 * ROUNDS; i++) {
		void *place = call_once_loaded(argv[1], names[i % 2]);

		if (!place)
			return 1;
		again += place == last;
		last = place;
		if (steps && gpuleak_step)
			gpuleak_step();
	}
	if (gpuleak_step)
		gpuleak_step();
	printf("%u\n", again);
	return 0;
}
