#include "launcher/preload.h"

#include <dirent.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/loader_path.h"

void environment_set(struct environment *environment, const char *name, const char *value)
{
	names_add(&environment->settings, text_format("%s=%s", name, value));
}

void environment_release(struct environment *environment)
{
	names_release(&environment->settings);
}

void environment_apply(const struct environment *environment)
{
	for (size_t i = 0; i < environment->settings.count; i++)
		putenv(environment->settings.items[i]);
}

enum sim_way {
	SIM_BY_AUDIT,
	SIM_BY_PRELOAD
};

/*
 * How the stand-ins get in.  An audit library gives a program those that it asks
 * for and nothing else, but below glibc 2.35 any audit library makes every call
 * into another library slow (glibc bug 15533).
 */
static enum sim_way sim_way(void)
{
	const char *wish = getenv("GPULEAK_SIM_LOADER");
	int major = 0;
	int minor = 0;

	if (wish && strcmp(wish, "audit") == 0)
		return SIM_BY_AUDIT;
	if (wish && strcmp(wish, "preload") == 0)
		return SIM_BY_PRELOAD;
	sscanf(gnu_get_libc_version(), "%d.%d", &major, &minor);
	return major > 2 || (major == 2 && minor >= 35) ? SIM_BY_AUDIT : SIM_BY_PRELOAD;
}

static bool file_named(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return strcmp(slash ? slash + 1 : path, name) == 0;
}

/* The run-time of a sanitizer ends the program unless it is the first library. */
static bool must_be_first(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	return strncmp(name, "libasan.", 8) == 0 || strncmp(name, "libtsan.", 8) == 0 ||
	       strncmp(name, "libclang_rt.", 12) == 0;
}

/* Add `path`, by a way the loader understands. */
static int list_add(struct names *list, const char *path)
{
	char *usable = loader_path(path);

	if (!usable)
		return -1;
	names_add(list, usable);
	return 0;
}

static int is_library(const struct dirent *entry)
{
	return strstr(entry->d_name, ".so") != NULL;
}

/* lib/ beside the audit library. */
static char *stand_in_folder(const char *sim)
{
	return text_format("%.*s/lib", (int)(strrchr(sim, '/') - sim), sim);
}

/*
 * Triton looks for libcuda.so.1 by itself, to link its kernels' launcher against.  What
 * the user has set stays.
 */
static void set_triton_libcuda(struct environment *environment, const char *sim)
{
	char *folder = stand_in_folder(sim);

	if (!getenv("TRITON_LIBCUDA_PATH"))
		environment_set(environment, "TRITON_LIBCUDA_PATH", folder);
	free(folder);
}

/*
 * With an audit library, and so a second libc, too little of the memory for thread-local variables
 * is left for a preloaded library that must have its own there, as jemalloc must: the loader would
 * not start the program.  What the user has set stays.
 */
static void set_static_tls(struct environment *environment)
{
	static const char name[] = "glibc.rtld.optional_static_tls";
	const char *held = getenv("GLIBC_TUNABLES");
	char *value;

	if (held && strstr(held, name))
		return;
	value = text_format("%s%s%s=16384", held ? held : "", held && *held ? ":" : "", name);
	environment_set(environment, "GLIBC_TUNABLES", value);
	free(value);
}

/* Every stand-in in lib/. */
static int list_add_stand_ins(struct names *list, const char *sim)
{
	char *folder = stand_in_folder(sim);
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, is_library, alphasort);
	int ret = count > 0 ? 0 : -1;

	if (count < 0)
		say("no stand-ins for the simulated GPU in %s: %s", folder, strerror(errno));
	else if (count == 0)
		say("no stand-ins for the simulated GPU in %s", folder);
	for (int i = 0; i < count; i++) {
		char *path = text_format("%s/%s", folder, entries[i]->d_name);

		if (ret == 0)
			ret = list_add(list, path);
		free(path);
		free(entries[i]);
	}
	free(entries);
	free(folder);
	return ret;
}

static char *joined(const struct names *names)
{
	char *text = text_format("%s", "");

	for (size_t i = 0; i < names->count; i++) {
		char *longer = text_format("%s%s%s", text, i ? ":" : "", names->items[i]);

		free(text);
		text = longer;
	}
	return text;
}

/*
 * Set `variable` to ours and what it held, split at `separators`.  Another copy of
 * `own` in it would record everything twice, so it goes.
 */
static void list_set(struct environment *environment, const char *variable,
		     const struct names *ours, const char *separators, const char *own)
{
	const char *value = getenv(variable);
	char *held = text_format("%s", value ? value : "");
	struct names first = {0};
	struct names later = {0};
	char *rest = NULL;
	char *list;

	for (char *path = strtok_r(held, separators, &rest); path;
	     path = strtok_r(NULL, separators, &rest)) {
		bool leads = later.count == 0 && must_be_first(path);

		if (!file_named(path, own))
			names_add(leads ? &first : &later, text_format("%s", path));
	}
	for (size_t i = 0; i < ours->count; i++)
		names_add(&first, text_format("%s", ours->items[i]));
	for (size_t i = 0; i < later.count; i++)
		names_add(&first, text_format("%s", later.items[i]));
	list = joined(&first);
	if (value || first.count > 0)
		environment_set(environment, variable, list);
	free(list);
	names_release(&first);
	names_release(&later);
	free(held);
}

int preload_set(struct environment *environment, const struct parts *parts, bool tracer, bool sim)
{
	struct names preload = {0};
	struct names audit = {0};
	int ret = -1;

	if (tracer && list_add(&preload, parts->tracer) < 0)
		goto out;
	if (sim && sim_way() == SIM_BY_AUDIT && list_add(&audit, parts->sim) < 0)
		goto out;
	if (sim && sim_way() == SIM_BY_PRELOAD && list_add_stand_ins(&preload, parts->sim) < 0)
		goto out;
	list_set(environment, "LD_PRELOAD", &preload, " :", "libgpuleak.so");
	if (audit.count > 0) {
		list_set(environment, "LD_AUDIT", &audit, ":", "libgpuleak-sim.so");
		set_static_tls(environment);
	}
	if (sim)
		set_triton_libcuda(environment, parts->sim);
	ret = 0;
out:
	names_release(&preload);
	names_release(&audit);
	return ret;
}
