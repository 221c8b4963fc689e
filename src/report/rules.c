#include "report/rules.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/memory.h"

enum {
	LINE_MAX_SIZE = 64 << 10, /* bytes */
	RULES_MAX = 1000,
};

/* Where a rule is read from; for what is wrong with it. */
struct place_in_file {
	const char *path;
	uint32_t line;
	struct message *why;
};

__attribute__((format(printf, 2, 3))) static int refuse(const struct place_in_file *at,
							const char *format, ...)
{
	char reason[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	return message_set(at->why, "%s:%u: %s", at->path, at->line, reason);
}

/* Cut white space off both ends, in place. */
static char *trim(char *text)
{
	static const char *const blanks = " \t\r\n";
	size_t size;

	text += strspn(text, blanks);
	size = strlen(text);
	while (size && strchr(blanks, text[size - 1]))
		size--;
	text[size] = '\0';
	return text;
}

/* Cut `text` at the next colon; NULL when there is none. */
static char *cut_at_colon(char *text)
{
	char *colon = strchr(text, ':');

	if (!colon)
		return NULL;
	*colon = '\0';
	return colon + 1;
}

/* "2GiB", "512 MiB", "4096": powers of 1024, as the report prints them. */
static bool read_size(const char *text, uint64_t *bytes)
{
	static const char units[] = "KMGT";
	const char *unit;
	double number, factor = 1;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	number = strtod(text, &end);
	end += strspn(end, " ");
	unit = *end ? strchr(units, *end) : NULL;
	if (unit) {
		for (ptrdiff_t i = unit - units; i >= 0; i--)
			factor *= 1024;
		end++;
		end += strcmp(end, "iB") == 0 ? 2 : *end == 'B';
	} else if (*end == 'B') {
		end++;
	}
	if (errno || *end || !(number * factor >= 1) || number * factor > 0x1p62)
		return false;
	*bytes = (uint64_t)(number * factor);
	return true;
}

/* Verdicts of a device or of the process: no call stack has them. */
static bool has_no_stack(enum verdict label)
{
	return label == VERDICT_SHORT || label == VERDICT_FRAGMENTATION ||
	       label == VERDICT_DRIVER || label == VERDICT_HOST;
}

static int add_label(struct rule *rule, const char *name, const struct place_in_file *at)
{
	enum verdict label;

	if (strcmp(name, "any") == 0) {
		rule->labels = ~0u;
		return 0;
	}
	if (!verdict_by_name(name, &label))
		return refuse(at, "no verdict is called %.40s", name);
	if (has_no_stack(label))
		return refuse(at, "%s is not a verdict on a call stack, so no rule can meet it",
			      name);
	rule->labels |= 1u << label;
	if (label == VERDICT_LEAK) /* the same leak, seen for a shorter time */
		rule->labels |= 1u << VERDICT_GROWING;
	return 0;
}

static int read_labels(struct rule *rule, char *text, const struct place_in_file *at)
{
	char *rest = trim(text);

	if (strncmp(rest, "bounded", strlen("bounded")) == 0) {
		rest = trim(rest + strlen("bounded"));
		if (*rest != '=' || !read_size(trim(rest + 1), &rule->bound))
			return refuse(at, "a bound needs its size: bounded=2GiB:...");
		rule->labels = 1u << VERDICT_LEAK | 1u << VERDICT_GROWING;
		return 0;
	}
	while (rest) {
		char *name = strsep(&rest, ",");

		if (add_label(rule, trim(name), at) < 0)
			return -1;
	}
	return 0;
}

static int read_what(struct rule *rule, const char *name, const struct place_in_file *at)
{
	static const char *const names[] = {"function", "file", "stack"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i]) == 0) {
			rule->what = (enum rule_what)i;
			return 0;
		}
	}
	return refuse(at, "a pattern is of a function, file or stack, not of a \"%.40s\"", name);
}

/* "leak:function:Logger.log -- kept on purpose". */
static int read_rule(struct rule *rule, char *line, const struct place_in_file *at)
{
	char *what = cut_at_colon(line);
	char *pattern = what ? cut_at_colon(what) : NULL;
	char *reason = pattern ? strstr(pattern, " -- ") : NULL;

	if (!pattern)
		return refuse(at,
			      "not a rule; one is VERDICT:function|file|stack:PATTERN -- REASON");
	if (read_labels(rule, line, at) < 0 || read_what(rule, trim(what), at) < 0)
		return -1;
	if (reason) {
		*reason = '\0';
		reason = trim(reason + strlen(" -- "));
	}
	pattern = trim(pattern);
	if (!reason || !*reason)
		return refuse(at, "no reason: each rule ends in \" -- \" and why it is there");
	if (!*pattern)
		return refuse(at, "the pattern is empty");
	rule->pattern = strdup(pattern);
	rule->reason = strdup(reason);
	if (!rule->pattern || !rule->reason)
		memory_ended();
	return 0;
}

static int read_line(struct rules *rules, char *line, size_t size, const struct place_in_file *at)
{
	static const char mark[] = "\xef\xbb\xbf"; /* some editors' byte order mark */
	struct rule *rule;

	if (strlen(line) != size || size >= LINE_MAX_SIZE)
		return refuse(at, "not a line of text");
	if (at->line == 1 && strncmp(line, mark, strlen(mark)) == 0)
		line += strlen(mark);
	line = trim(line);
	if (!*line || *line == '#')
		return 0;
	if (rules->count == RULES_MAX)
		return refuse(at, "more than %d rules", RULES_MAX);
	rules->items = memory_grow(rules->items, rules->count + 1, sizeof(*rules->items));
	rule = &rules->items[rules->count];
	*rule = (struct rule){.file = at->path, .line = at->line};
	if (read_rule(rule, line, at) < 0)
		return -1;
	rules->count++;
	return 0;
}

/* The name lives as long as the rules, which are said to be from there. */
static const char *add_file(struct rules *rules, const char *path)
{
	char *copy = strdup(path);

	if (!copy)
		memory_ended();
	rules->files = memory_grow(rules->files, rules->file_count + 1, sizeof(*rules->files));
	rules->files[rules->file_count++] = copy;
	return copy;
}

int rules_read(struct rules *rules, const char *path, struct message *why)
{
	struct place_in_file at = {.path = add_file(rules, path), .why = why};
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	int ret = 0;

	if (!file)
		return message_errno(why, "%s", path);
	while (ret == 0) {
		ssize_t size = getline(&line, &room, file);

		if (size < 0)
			break;
		at.line++;
		ret = read_line(rules, line, (size_t)size, &at);
	}
	if (ret == 0 && ferror(file))
		ret = message_errno(why, "%s", path);
	free(line);
	fclose(file);
	return ret;
}

void rules_release(struct rules *rules)
{
	for (size_t i = 0; i < rules->count; i++) {
		free(rules->items[i].pattern);
		free(rules->items[i].reason);
	}
	for (size_t i = 0; i < rules->file_count; i++)
		free(rules->files[i]);
	free(rules->items);
	free(rules->files);
	*rules = (struct rules){0};
}
