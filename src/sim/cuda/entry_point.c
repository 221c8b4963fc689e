/* The driver's functions by name. */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/core/notice.h"
#include "sim/standin.h"

enum {
	FOUND = 0
};

/* Stands for a function that no list has.  PyTorch keeps such pointers and seldom calls one. */
static int unknown_function(void)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;

	return (int)gpusim_unsupported(&said, "a function asked for by name", "libcuda.so.1",
				       GPUSIM_NOT_SUPPORTED);
}

/* Our own handle, so that another library's function of the same name is never found. */
static void *own_library(void)
{
	Dl_info here;

	if (!dladdr((void *)unknown_function, &here))
		return NULL;
	return dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

/* The driver gives the newest form of a function that the caller's version knows. */
static void *look_up(void *library, const char *name)
{
	static const char *const forms[] = {"_v4", "_v3", "_v2", ""};
	char full[128];
	void *function = NULL;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]) && !function; i++) {
		snprintf(full, sizeof(full), "%s%s", name, forms[i]);
		function = dlsym(library, full);
	}
	return function;
}

SIM_EXPORT int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
				   int *status)
{
	void *library = own_library();
	int saved = errno;

	(void)version;
	(void)flags;
	*function = library ? look_up(library, name) : NULL;
	if (!*function)
		*function = (void *)unknown_function;
	if (library)
		dlclose(library);
	if (status)
		*status = FOUND;
	errno = saved;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuGetProcAddress(const char *name, void **function, int version, uint64_t flags)
{
	return cuGetProcAddress_v2(name, function, version, flags, NULL);
}
