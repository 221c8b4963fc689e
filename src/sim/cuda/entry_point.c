/* The driver's functions by name. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "sim/core/notice.h"
#include "sim/standin.h"

enum {
	FOUND = 0
};

/*
 * Functions that no list has.  PyTorch keeps such pointers and seldom calls one, so they get
 * something to call that says which one it was.  Beyond the last slot they share it.
 */
/* clang-format off */
#define SLOTS(S)                                                                                 \
	S(0)                                                                                     \
	S(1)                                                                                     \
	S(2)                                                                                     \
	S(3) S(4) S(5) S(6) S(7) S(8) S(9) S(10) S(11) S(12) S(13) S(14) S(15) S(16) S(17) S(18) \
		S(19) S(20) S(21) S(22) S(23) S(24) S(25) S(26) S(27) S(28) S(29) S(30) S(31)
/* clang-format on */

enum {
	SLOT_COUNT = 32,
	LONGEST = 128
};

/* Guarded by `lock`; a name once given to a slot stays. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char names[SLOT_COUNT][LONGEST];

static int unknown(int slot)
{
	static atomic_flag said[SLOT_COUNT];

	return (int)gpusim_unsupported(&said[slot], names[slot], "libcuda.so.1",
				       GPUSIM_NOT_SUPPORTED);
}

#define S(number)                         \
	static int unknown_##number(void) \
	{                                 \
		return unknown(number);   \
	}
SLOTS(S)
#undef S

#define S(number) unknown_##number,
static int (*const unknowns[SLOT_COUNT])(void) = {SLOTS(S)};
#undef S

static void *unknown_function(const char *name)
{
	int slot;

	pthread_mutex_lock(&lock);
	for (slot = 0; slot < SLOT_COUNT - 1; slot++)
		if (!names[slot][0] || strcmp(names[slot], name) == 0)
			break;
	if (!names[slot][0])
		snprintf(names[slot], LONGEST, "%s", name);
	pthread_mutex_unlock(&lock);
	return (void *)unknowns[slot];
}

/* Our own handle, so that another library's function of the same name is never found. */
static void *own_library(void)
{
	Dl_info here;

	if (!dladdr((void *)unknown, &here))
		return NULL;
	return dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

/*
 * The driver gives the newest form of a function that the caller's version knows.  That is _v2
 * where there is one, but for those that came late with other parameters.
 */
static void *look_up(void *library, const char *name, int version)
{
	static const char *const late[] = {"cuCtxGetDevice", "cuCtxSynchronize", "cuMemAdvise",
					   "cuMemPrefetchAsync", "cuStreamGetCtx"};
	char newer[LONGEST];
	void *function;

	for (size_t i = 0; i < sizeof(late) / sizeof(late[0]); i++)
		if (strcmp(name, late[i]) == 0)
			return dlsym(library, name);
	if (strcmp(name, "cuCtxCreate") == 0 && version >= 13000)
		return dlsym(library, "cuCtxCreate_v4");
	snprintf(newer, sizeof(newer), "%s_v2", name);
	function = dlsym(library, newer);
	return function ? function : dlsym(library, name);
}

SIM_EXPORT int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
				   int *status)
{
	void *library = own_library();
	int saved = errno;

	(void)flags;
	*function = library ? look_up(library, name, version) : NULL;
	if (!*function)
		*function = unknown_function(name);
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
