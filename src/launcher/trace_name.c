#include "launcher/trace_name.h"

#include <glob.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The rank and the pid that the tracer may put before the last '.'. */
#define OWN_ADDITION "(\\.rank[0-9]+)?(\\.[0-9]+)?"

/* A pattern being written, in both languages at once. */
struct pattern {
	char *glob;  /* owned */
	char *exact; /* owned */
};

static void append(char **text, const char *more)
{
	char *longer = text_format("%s%s", *text, more);

	free(*text);
	*text = longer;
}

static void pattern_add(struct pattern *pattern, const char *glob, const char *exact)
{
	append(&pattern->glob, glob);
	append(&pattern->exact, exact);
}

static void pattern_add_character(struct pattern *pattern, char character)
{
	char plain[] = {character, '\0'};
	char escaped[] = {'\\', character, '\0'};

	pattern_add(pattern, strchr("*?[]\\", character) ? escaped : plain,
		    strchr(".[]{}()*+?^$|\\", character) ? escaped : plain);
}

static void pattern_add_host(struct pattern *pattern)
{
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	for (const char *at = host; *at; at++)
		pattern_add_character(pattern, *at);
}

/* `token` is what stands behind a '%'.  False when it means nothing. */
static bool pattern_add_token(struct pattern *pattern, char token)
{
	switch (token) {
	case 'p':
		pattern_add(pattern, "*", "[0-9]+");
		return true;
	case 'r':
		pattern_add(pattern, "*", "[0-9]*");
		return true;
	case 'e':
		pattern_add(pattern, "*", "[^/]+");
		return true;
	case 'h':
		pattern_add_host(pattern);
		return true;
	case '%':
		pattern_add(pattern, "%", "%");
		return true;
	default:
		return false;
	}
}

/* Where the tracer puts what it adds: the last '.' of the file's name, or its end. */
static const char *place_of_addition(const char *out)
{
	const char *slash = strrchr(out, '/');
	const char *name = slash ? slash + 1 : out;
	const char *dot = strrchr(name, '.');

	return dot && dot != name ? dot : name + strlen(name);
}

static void pattern_fill(struct pattern *pattern, const char *out)
{
	const char *addition = place_of_addition(out);
	const char *at = out;

	for (;;) {
		if (at == addition)
			pattern_add(pattern, "*", OWN_ADDITION);
		if (!*at)
			break;
		if (*at == '%' && pattern_add_token(pattern, at[1])) {
			at += 2;
			continue;
		}
		pattern_add_character(pattern, *at++);
	}
}

int trace_name_init(struct trace_name *name, const char *out)
{
	struct pattern pattern = {.glob = text_format("%s", ""), .exact = text_format("^")};
	int failed;

	pattern_fill(&pattern, out);
	append(&pattern.exact, "$");
	failed = regcomp(&name->exact, pattern.exact, REG_EXTENDED | REG_NOSUB);
	free(pattern.exact);
	name->glob = pattern.glob;
	if (!failed)
		return 0;
	say("%s cannot be the name of a trace", out);
	free(name->glob);
	return -1;
}

void trace_name_release(struct trace_name *name)
{
	regfree(&name->exact);
	free(name->glob);
}

void trace_name_list(const struct trace_name *name, struct names *paths)
{
	glob_t found;

	if (glob(name->glob, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		if (regexec(&name->exact, found.gl_pathv[i], 0, NULL, 0) == 0)
			names_add(paths, text_format("%s", found.gl_pathv[i]));
	}
	globfree(&found);
}
