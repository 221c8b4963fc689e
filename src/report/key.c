#include "report/key.h"

#include <stdio.h>
#include <string.h>

#include "report/demangle.h"
#include "report/paths.h"

/* Copy `from` with each number that is the pid, or follows "ipykernel_", replaced. */
static void without_pids(char *to, size_t size, const char *from, uint32_t pid)
{
	static const char *const kernel = "ipykernel_";
	const char *start = from;
	char number[16];
	size_t used = 0;

	snprintf(number, sizeof(number), "%u", pid);
	while (*from && used + 3 < size) {
		size_t digits = strspn(from, "0123456789");
		bool is_pid = digits == strlen(number) && memcmp(from, number, digits) == 0;
		bool is_kernel = digits && (size_t)(from - start) >= strlen(kernel) &&
				 memcmp(from - strlen(kernel), kernel, strlen(kernel)) == 0;

		if (is_pid || is_kernel) {
			memcpy(to + used, "%p", 2);
			used += 2;
			from += digits;
			continue;
		}
		for (size_t i = 0; i < (digits ? digits : 1) && used + 1 < size; i++)
			to[used++] = *from++;
	}
	to[used] = '\0';
}

static void script_folder(const struct snapshot *snapshot, char *folder)
{
	struct text start = names_text(&snapshot->names, snapshot->run.folder);

	path_absolute(folder, start, names_text(&snapshot->names, snapshot->run.main_file));
	if (folder[0] == '/')
		path_parent(folder);
	else
		path_absolute(folder, start, (struct text){".", 1});
}

static const char *below_packages(const char *path)
{
	const char *at = strstr(path, "/site-packages/");

	if (!at)
		at = strstr(path, "/dist-packages/");
	return at ? strchr(at + 1, '/') + 1 : NULL;
}

/* "model/net.py:forward" of a frame; `whole`: the file with its folders. */
static void part_of(const struct snapshot *snapshot, const struct gpuleak_frame *frame, bool whole,
		    char *part, size_t size)
{
	struct text function = names_text(&snapshot->names, frame->function);
	char path[PATH_SIZE], relative[PATH_SIZE], folder[PATH_SIZE], line[KEY_SIZE];
	const char *file;

	if (frame->language == GPULEAK_LANGUAGE_NATIVE) {
		struct text module = text_base(names_text(&snapshot->names, frame->module));

		if (demangle(function, path, sizeof(path)))
			function = (struct text){path, strlen(path)};
		snprintf(part, size, "%.*s:%.*s", module.size < 100 ? (int)module.size : 100,
			 module.size ? module.bytes : "?",
			 function.size < 300 ? (int)function.size : 300,
			 function.size ? function.bytes : "?");
		return;
	}
	code_file(snapshot, frame, path);
	script_folder(snapshot, folder);
	if (!whole && strrchr(path, '/')) {
		file = strrchr(path, '/') + 1;
	} else if (below_packages(path)) {
		file = below_packages(path);
	} else {
		path_relative(relative, folder, path);
		file = relative;
	}
	snprintf(line, sizeof(line), "%.500s:%.*s", file,
		 function.size < 300 ? (int)function.size : 300,
		 function.size ? function.bytes : "?");
	without_pids(part, size, line, snapshot->run.pid);
}

/* Put `part` before what is in `key`.  False, and no change, when it doesn't fit. */
static bool prepend(char key[KEY_SIZE], const char *part)
{
	char longer[KEY_SIZE];
	int size = snprintf(longer, sizeof(longer), "%s%s%s", part, key[0] ? "/" : "", key);

	if (size < 0 || size >= KEY_SIZE)
		return false;
	memcpy(key, longer, (size_t)size + 1);
	return true;
}

/* Recursion, and the module's own code, tell nothing. */
static bool tells_something(const char *key, const char *part)
{
	size_t size = strlen(part);
	const char *module = strrchr(part, ':');

	if (strncmp(key, part, size) == 0 && (key[size] == '/' || !key[size]))
		return false;
	return !(module && strcmp(module, ":<module>") == 0);
}

const char *key_of_site(struct code_map *map, const struct snapshot_site *site,
			const struct place *place, char key[KEY_SIZE])
{
	const struct snapshot *snapshot = map->snapshot;
	char part[KEY_SIZE];
	struct stack stack;

	key[0] = '\0';
	names_stack(&snapshot->names, site->stack, &stack);
	if (place->inner && code_owner(map, place->inner) != CODE_USER) {
		part_of(snapshot, place->inner, false, part, sizeof(part));
		prepend(key, part);
	}
	for (uint32_t i = 0; i < stack.count; i++) {
		const struct gpuleak_frame *frame = names_frame(&snapshot->names, &stack, i);

		if (code_owner(map, frame) != CODE_USER)
			continue;
		part_of(snapshot, frame, true, part, sizeof(part));
		if (frame != place->where && !tells_something(key, part))
			continue;
		if (!prepend(key, part))
			break;
	}
	if (place->where && !place->user && place->where != place->inner) {
		part_of(snapshot, place->where, true, part, sizeof(part));
		prepend(key, part);
	}
	return key;
}

const char *key_of(struct code_map *map, const struct finding *finding, char key[KEY_SIZE])
{
	return key_of_site(map, finding->site, &finding->place, key);
}
