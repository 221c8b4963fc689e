/*
 * Puts the stand-ins where CUDA's libraries are asked for.
 *
 *     LD_AUDIT=<folder>/libgpuleak-sim.so python train.py
 *
 * The loader tells an audit library of every library it looks for.  We answer with the stand-in of
 * that file name in <folder>/lib, wherever the program thought it was, so neither installed CUDA
 * libraries nor DT_RPATH matter.  A launcher sets LD_AUDIT to an absolute path and keeps what was
 * in it (separated by colons); LD_PRELOAD of the tracer goes beside it.
 *
 * Below glibc 2.35 an audit library slows every call between libraries.  There a launcher preloads
 * stand-ins instead: LD_PRELOAD=<folder>/lib/libcudart.so.13:... , one of each kind that the
 * program needs, by the major version it was built for.
 *
 * An audit library lives in a namespace of its own, with its own libc.  Only la_version and
 * la_objsearch: a binding hook would slow calls down.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "sonames.h" /* static const char *const sonames[], made with the stand-ins */

#define EXPORT __attribute__((visibility("default")))

enum {
	SONAMES = sizeof(sonames) / sizeof(sonames[0]),
	LONGEST = 4096
};

/* The stand-ins' folder with a slash at its end.  Written once, by la_version(). */
static char folder[LONGEST];
static size_t folder_length;

/* Where this library lies, so that the folder can be moved. */
static bool find_folder(void)
{
	Dl_info here;
	const char *slash;

	if (!dladdr((void *)find_folder, &here) || !here.dli_fname)
		return false;
	slash = strrchr(here.dli_fname, '/');
	if (!slash)
		return false;
	folder_length = (size_t)(slash + 1 - here.dli_fname);
	if (folder_length + strlen("lib/") >= LONGEST)
		return false;
	memcpy(folder, here.dli_fname, folder_length);
	memcpy(folder + folder_length, "lib/", strlen("lib/"));
	folder_length += strlen("lib/");
	return true;
}

/* 0 tells the loader to ignore us. */
EXPORT unsigned la_version(unsigned version)
{
	return find_folder() ? version : 0;
}

/*
 * The name of the stand-in for `file`.  Programs that don't use CUDA's runtime ask for the driver
 * and NVML without a version; PyTorch 2.2 looks whether it can open libcudnn_cnn_infer.so.8, a part
 * of what one stand-in is.
 */
static const char *other_name(const char *file)
{
	if (strcmp(file, "libcuda.so") == 0)
		return "libcuda.so.1";
	if (strcmp(file, "libnvidia-ml.so") == 0)
		return "libnvidia-ml.so.1";
	if (strncmp(file, "libcudnn_", strlen("libcudnn_")) == 0)
		return strstr(file, ".so.8") ? "libcudnn.so.8" : "libcudnn.so.9";
	return file;
}

/* The loader copies what we answer, before it asks again: it holds its lock. */
EXPORT char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag)
{
	static char answer[LONGEST];
	const char *slash = strrchr(name, '/');
	const char *file = slash ? slash + 1 : name;

	(void)cookie;
	(void)flag;
	file = other_name(file);
	for (size_t i = 0; i < SONAMES; i++) {
		if (strcmp(file, sonames[i]) != 0 || folder_length + strlen(file) >= LONGEST)
			continue;
		memcpy(answer, folder, folder_length);
		strcpy(answer + folder_length, file);
		return answer;
	}
	return (char *)name;
}
