#include "tracer/output_name.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tracer/settings.h"

#include "tracer/banned.h"

static const char *const rank_variables[] = {
	"RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "LOCAL_RANK",
};

static bool is_number(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return digits > 0 && digits < 10 && text[digits] == '\0';
}

const char *output_rank(void)
{
	for (unsigned i = 0; i < sizeof(rank_variables) / sizeof(rank_variables[0]); i++) {
		const char *value = getenv(rank_variables[i]);

		if (value && is_number(value))
			return value;
	}
	return NULL;
}

struct text {
	const char *rank; /* NULL: none */
	size_t rank_at;	  /* where it was added latest; SIZE_MAX: nowhere */
	char *bytes;
	size_t used;
	size_t size;
	bool whole;
};

static void text_add(struct text *text, const char *part)
{
	size_t size = strlen(part);

	if (size >= text->size - text->used) {
		text->whole = false;
		return;
	}
	memcpy(text->bytes + text->used, part, size + 1);
	text->used += size;
}

static void add_program(struct text *text)
{
	text_add(text, program_invocation_short_name);
}

static void add_host(struct text *text)
{
	char host[256] = "";

	if (gethostname(host, sizeof(host) - 1) == 0)
		text_add(text, host);
}

static void add_pid(struct text *text, pid_t pid)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%ld", (long)pid);
	text_add(text, digits);
}

static void add_field(struct text *text, char field)
{
	char unknown[3] = {'%', field, '\0'};

	switch (field) {
	case 'p':
		add_pid(text, getpid());
		return;
	case 'r':
		text->rank_at = text->used;
		text_add(text, text->rank ? text->rank : "");
		return;
	case 'h':
		add_host(text);
		return;
	case 'e':
		add_program(text);
		return;
	case '%':
		text_add(text, "%");
		return;
	default:
		text_add(text, unknown);
	}
}

static void add_pattern(struct text *text, const char *pattern)
{
	for (; *pattern; pattern++) {
		char letter[2] = {*pattern, '\0'};

		if (*pattern == '%' && pattern[1])
			add_field(text, *++pattern);
		else
			text_add(text, letter);
	}
}

/* A relative name is from where the program started: it may be elsewhere by now. */
static struct text make(struct output_name *name, const char *rank)
{
	struct text text = {rank, SIZE_MAX, name->path, 0, sizeof(name->path), true};
	const char *pattern = settings.out;
	size_t size = strlen(pattern);

	name->path[0] = '\0';
	if (*pattern != '/' && settings.folder[0]) {
		text_add(&text, settings.folder);
		text_add(&text, "/");
	}
	add_pattern(&text, pattern);
	if (size == 0 || pattern[size - 1] == '/')
		add_pattern(&text, rank ? "trace.rank%r.bin" : "trace.bin");
	return text;
}

bool output_name_make(struct output_name *name)
{
	return make(name, output_rank()).whole;
}

bool output_name_of_ranks(struct output_name *name, size_t *rank)
{
	struct text text = make(name, "");

	*rank = text.rank_at;
	return text.whole && text.rank_at != SIZE_MAX && !strchr(name->path + text.rank_at, '/');
}

static const char *file_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool output_name_with_pid(struct output_name *name, const struct output_name *of, pid_t pid)
{
	const char *file = file_part(of->path);
	const char *dot = strrchr(file, '.');
	size_t stem = dot && dot > file ? (size_t)(dot - of->path) : strlen(of->path);
	int size = snprintf(name->path, sizeof(name->path), "%.*s.%ld%s", (int)stem, of->path,
			    (long)pid, of->path + stem);

	return size > 0 && (size_t)size < sizeof(name->path);
}

bool output_name_in(struct output_name *name, const char *folder, const struct output_name *of)
{
	int size = snprintf(name->path, sizeof(name->path), "%s/%s", folder, file_part(of->path));

	return size > 0 && (size_t)size < sizeof(name->path);
}
