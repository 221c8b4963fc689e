#include "report/code.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "report/memory.h"
#include "report/paths.h"

enum {
	PATHS_MAX = 30000, /* no real program has so many files */
	PATHS_TABLE = 65536,
	FRAMES_MAX = 20000000, /* looked at, in all stacks */
};

void code_map_init(struct code_map *map, const struct snapshot *snapshot,
		   const char *const *patterns, size_t pattern_count)
{
	*map = (struct code_map){
		.snapshot = snapshot,
		.patterns = patterns,
		.pattern_count = pattern_count,
		.owners = memory_new(snapshot->names.frame_count, 1),
		.hashes = memory_new(snapshot->names.frame_count, sizeof(*map->hashes)),
		.functions = memory_new(snapshot->names.frame_count, sizeof(*map->functions)),
		.paths = memory_new(PATHS_TABLE, sizeof(*map->paths)),
		.paths_left = PATHS_MAX,
		.frames_left = FRAMES_MAX,
	};
}

void code_map_release(struct code_map *map)
{
	free(map->owners);
	free(map->hashes);
	free(map->functions);
	free(map->paths);
	*map = (struct code_map){0};
}

void code_file(const struct snapshot *snapshot, const struct gpuleak_frame *frame, char *path)
{
	struct text file = names_text(&snapshot->names, frame->file);

	if (!file.size)
		file = (struct text){"?", 1};
	path_absolute(path, names_text(&snapshot->names, snapshot->run.folder), file);
}

/* A shell pattern for the path or its end, or the name or path of a folder or file in it. */
static bool pattern_matches(const char *pattern, const char *path)
{
	size_t size = strlen(pattern);

	if (path_below(path, (struct text){pattern, size}) || fnmatch(pattern, path, 0) == 0)
		return true;
	for (const char *at = strchr(path, '/'); at && size; at = strchr(at + 1, '/')) {
		const char *rest = at + 1;

		if (fnmatch(pattern, rest, 0) == 0 ||
		    path_below(rest, (struct text){pattern, size}))
			return true;
	}
	return false;
}

static bool user_says_so(const struct code_map *map, const char *path)
{
	for (size_t i = 0; i < map->pattern_count; i++)
		if (pattern_matches(map->patterns[i], path))
			return true;
	return false;
}

/* What stands behind the folder of installed packages that `path` lies in, or NULL. */
static const char *below_packages(const struct code_map *map, const char *path)
{
	static const char *const folders[] = {"/site-packages/", "/dist-packages/"};
	const struct snapshot *snapshot = map->snapshot;
	struct text list = names_text(&snapshot->names, snapshot->run.packages);
	struct text folder;

	for (unsigned i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		const char *at = strstr(path, folders[i]);

		if (at)
			return at + strlen(folders[i]);
	}
	while (text_next(&list, &folder)) {
		const char *below = path_below(path, folder);

		if (below)
			return below;
	}
	return NULL;
}

static bool in_standard_library(const struct code_map *map, const char *path)
{
	const struct snapshot *snapshot = map->snapshot;
	struct text list = names_text(&snapshot->names, snapshot->run.stdlib);
	struct text folder;
	const char *at;

	while (text_next(&list, &folder))
		if (path_below(path, folder))
			return true;
	/* Where the agent could not tell: ".../lib/python3.11/threading.py". */
	at = strstr(path, "/lib/python3");
	return at && at[strcspn(at + 1, "/") + 1] == '/' &&
	       strspn(at + strlen("/lib/python3"), ".0123456789t") ==
		       strcspn(at + strlen("/lib/python3"), "/");
}

/* True when `below` ("package/module.py") lies in the package that __main__ belongs to. */
static bool in_main_package(const struct code_map *map, const char *below)
{
	const struct snapshot *snapshot = map->snapshot;
	struct text package = names_text(&snapshot->names, snapshot->run.main_package);
	const char *dot = package.size ? memchr(package.bytes, '.', package.size) : NULL;

	if (dot)
		package.size = (size_t)(dot - package.bytes);
	return path_below(below, package) != NULL;
}

static bool is_main_file(const struct code_map *map, const char *path)
{
	const struct snapshot *snapshot = map->snapshot;
	char main_file[PATH_SIZE];

	path_absolute(main_file, names_text(&snapshot->names, snapshot->run.folder),
		      names_text(&snapshot->names, snapshot->run.main_file));
	return main_file[0] && strcmp(path, main_file) == 0;
}

/* Code without a file: made at run time by a library, or typed in by the user. */
static enum code_owner owner_without_file(const char *name)
{
	static const struct {
		const char *start;
		enum code_owner owner;
	} known[] = {
		{"<frozen ", CODE_STANDARD},	  {"<eval_with_key>", CODE_TORCH},
		{"<torch_package", CODE_TORCH},	  {"<attrs generated", CODE_LIBRARY},
		{"<decorator-gen", CODE_LIBRARY}, {"<__array_function__", CODE_LIBRARY},
	};

	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strncmp(name, known[i].start, strlen(known[i].start)) == 0)
			return known[i].owner;
	return CODE_USER;
}

/* Files that only PyTorch has, wherever it is built or installed. */
static bool is_torch_source(const char *path)
{
	static const char *const parts[] = {"/torch/nn/modules/", "/torch/optim/",
					    "/torch/autograd/",	  "/torch/_tensor.py",
					    "/torch/utils/_",	  "/torch/_dynamo/"};

	for (unsigned i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(path, parts[i]))
			return true;
	return false;
}

static enum code_owner owner_of_file(const struct code_map *map, const char *path)
{
	const char *below;

	if (path[0] == '<')
		return owner_without_file(path);
	if (user_says_so(map, path))
		return CODE_USER;
	below = below_packages(map, path);
	if (below && (strncmp(below, "torch/", 6) == 0 || strncmp(below, "functorch/", 10) == 0))
		return CODE_TORCH;
	if (is_main_file(map, path))
		return CODE_USER;
	if (below)
		return in_main_package(map, below) ? CODE_USER : CODE_LIBRARY;
	if (in_standard_library(map, path))
		return CODE_STANDARD;
	return is_torch_source(path) ? CODE_TORCH : CODE_USER;
}

static enum code_owner owner_of_module(const struct code_map *map,
				       const struct gpuleak_frame *frame)
{
	static const struct {
		const char *start;
		enum code_owner owner;
	} known[] = {
		{"libc10", CODE_NATIVE_TORCH},	    {"libtorch", CODE_NATIVE_TORCH},
		{"libgpuleak", CODE_NATIVE_TORCH},  {"libcudart", CODE_NATIVE_TORCH},
		{"libc.so", CODE_NATIVE_RUNTIME},   {"libc-", CODE_NATIVE_RUNTIME},
		{"libstdc++", CODE_NATIVE_RUNTIME}, {"libpthread", CODE_NATIVE_RUNTIME},
		{"ld-linux", CODE_NATIVE_RUNTIME},
	};
	struct text module = text_base(names_text(&map->snapshot->names, frame->module));

	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (text_begins(module, known[i].start))
			return known[i].owner;
	return CODE_NATIVE;
}

/* Where a file is in the table, or belongs.  There is always room: PATHS_MAX is below it. */
static struct code_path *find_path(const struct code_map *map, gpuleak_string_id file)
{
	uint32_t slot = (file * 2654435761u) >> 16;

	while (map->paths[slot].file && map->paths[slot].file != file)
		slot = (slot + 1) % PATHS_TABLE;
	return &map->paths[slot];
}

static enum code_owner owner_of_path(struct code_map *map, const struct gpuleak_frame *frame)
{
	struct code_path *known = find_path(map, frame->file);
	char path[PATH_SIZE];
	struct text file;

	if (known->file)
		return known->owner;
	if (!map->paths_left || !names_string(&map->snapshot->names, frame->file, &file))
		return CODE_UNKNOWN;
	map->paths_left--;
	code_file(map->snapshot, frame, path);
	*known = (struct code_path){frame->file, owner_of_file(map, path)};
	return known->owner;
}

static enum code_owner find_owner(struct code_map *map, const struct gpuleak_frame *frame)
{
	if (frame->language == GPULEAK_LANGUAGE_NATIVE)
		return owner_of_module(map, frame);
	if (frame->language == GPULEAK_LANGUAGE_PYTHON && frame->file)
		return owner_of_path(map, frame);
	return CODE_UNKNOWN;
}

enum code_owner code_owner(struct code_map *map, const struct gpuleak_frame *frame)
{
	uint8_t *owner;

	if (!frame)
		return CODE_UNKNOWN;
	owner = &map->owners[frame - map->snapshot->names.frames];
	if (!*owner)
		*owner = (uint8_t)find_owner(map, frame);
	return *owner;
}
