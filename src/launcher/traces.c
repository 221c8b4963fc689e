#include "launcher/traces.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/trace_file.h"

#define DEFAULT_OUT "trace.bin"

static int add_place(struct traces *traces, const char *out)
{
	if (trace_name_init(&traces->names[traces->names_count], out) < 0)
		return -1;
	traces->names_count++;
	return 0;
}

/* Where the tracer goes when the folder can't hold its file. */
static int add_fallbacks(struct traces *traces, const char *out)
{
	const char *folders[] = {getenv("SLURM_TMPDIR"), getenv("TMPDIR"), "/tmp"};
	const char *slash = strrchr(out, '/');
	const char *name = slash ? slash + 1 : out;
	int ret = 0;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) && ret == 0; i++) {
		char *path;

		if (!folders[i] || !*folders[i])
			continue;
		path = text_format("%s/%s", folders[i], name);
		ret = add_place(traces, path);
		free(path);
	}
	return ret;
}

static bool known(const struct traces *traces, const struct trace_look *look)
{
	for (size_t i = 0; i < traces->known_count; i++) {
		if (traces->known[i].device == look->device &&
		    traces->known[i].inode == look->inode)
			return true;
	}
	return false;
}

static void remember(struct traces *traces, const struct trace_look *look)
{
	size_t size = (traces->known_count + 1) * sizeof(*traces->known);
	struct file_identity *longer = realloc(traces->known, size);

	if (!longer)
		return;
	traces->known = longer;
	traces->known[traces->known_count++] = (struct file_identity){look->device, look->inode};
}

static void put_aside_all(const struct trace_name *name)
{
	struct names paths = {0};
	char *example = NULL;
	size_t moved = 0;

	trace_name_list(name, &paths);
	for (size_t i = 0; i < paths.count; i++) {
		char *aside = trace_put_aside(paths.items[i]);

		if (!aside)
			continue;
		moved++;
		free(example);
		example = aside;
	}
	if (moved == 1)
		say("an older trace is now %s", example);
	else if (moved > 1)
		say("%zu older traces are now *.old, such as %s", moved, example);
	free(example);
	names_release(&paths);
}

/* As the tracer does: a name that ends in '/' is a folder for the default names. */
static char *out_with_name(const char *out)
{
	size_t size = out ? strlen(out) : 0;
	bool folder = size == 0 || out[size - 1] == '/';

	return text_format("%s%s", out ? out : "", folder ? DEFAULT_OUT : "");
}

int traces_make_way(struct traces *traces, const char *out, uint64_t started)
{
	char *name = out_with_name(out);
	int ret;

	*traces = (struct traces){.started = started};
	ret = add_place(traces, name) < 0 || add_fallbacks(traces, name) < 0 ? -1 : 0;
	free(name);
	if (ret < 0)
		return -1;
	put_aside_all(&traces->names[0]);
	for (size_t i = 0; i < traces->names_count; i++) {
		struct names paths = {0};

		trace_name_list(&traces->names[i], &paths);
		for (size_t j = 0; j < paths.count; j++) {
			struct trace_look look = trace_look_at(paths.items[j]);

			if (look.state != TRACE_NONE)
				remember(traces, &look);
		}
		names_release(&paths);
	}
	return 0;
}

/* Rank 2 before rank 10. */
static int by_number(const void *left, const void *right)
{
	return strverscmp(*(char *const *)left, *(char *const *)right);
}

/* In a folder that others write to as well, only a trace of our user's counts. */
static void collect_one(struct traces *traces, const char *path, bool shared_folder,
			struct traces_written *written)
{
	struct trace_look look = trace_look_at(path);
	struct names *into = &written->whole;

	if (look.state == TRACE_NONE || known(traces, &look))
		return;
	if (look.run_started && look.run_started != traces->started)
		return;
	if (shared_folder && look.owner != geteuid())
		return;
	if (look.state == TRACE_EMPTY)
		into = &written->empty;
	else if (look.state == TRACE_RUNNING)
		into = &written->running;
	names_add(into, text_format("%s", path));
	remember(traces, &look); /* $TMPDIR may be /tmp, and both this folder */
}

void traces_collect(struct traces *traces, struct traces_written *written)
{
	*written = (struct traces_written){0};
	for (size_t i = 0; i < traces->names_count; i++) {
		struct names paths = {0};

		trace_name_list(&traces->names[i], &paths);
		if (paths.count > 1)
			qsort(paths.items, paths.count, sizeof(*paths.items), by_number);
		for (size_t j = 0; j < paths.count; j++)
			collect_one(traces, paths.items[j], i > 0, written);
		names_release(&paths);
	}
}

void traces_written_release(struct traces_written *written)
{
	names_release(&written->whole);
	names_release(&written->empty);
	names_release(&written->running);
}

void traces_release(struct traces *traces)
{
	for (size_t i = 0; i < traces->names_count; i++)
		trace_name_release(&traces->names[i]);
	free(traces->known);
	*traces = (struct traces){0};
}
