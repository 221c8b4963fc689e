#include "report/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
	WIDTH_DEFAULT = 100,
	WIDTH_MIN = 40,
	WIDTH_MAX = 400,
	LABEL_WIDTH = 8,
};

static size_t find_width(int fd)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) < 0 || !size.ws_col)
		return WIDTH_DEFAULT;
	if (size.ws_col < WIDTH_MIN)
		return WIDTH_MIN;
	return size.ws_col > WIDTH_MAX ? WIDTH_MAX : size.ws_col;
}

static bool wants_colour(int fd)
{
	const char *no_colour = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (no_colour && no_colour[0])
		return false;
	return isatty(fd) && (!term || strcmp(term, "dumb") != 0);
}

void terminal_init(struct terminal *terminal, FILE *out, enum colour_choice colour)
{
	int fd = fileno(out);

	terminal->out = out;
	terminal->width = fd >= 0 ? find_width(fd) : WIDTH_DEFAULT;
	terminal->colour = colour == COLOUR_ALWAYS;
	if (colour == COLOUR_AUTO && fd >= 0)
		terminal->colour = wants_colour(fd);
}

static void sequence(const struct terminal *terminal, const char *code)
{
	if (terminal->colour)
		fprintf(terminal->out, "\033[%sm", code);
}

void terminal_verdict(const struct terminal *terminal, enum verdict label)
{
	static const char *const codes[VERDICT_COUNT] = {
		[VERDICT_SHORT] = "33",		[VERDICT_STABLE] = "32",    [VERDICT_NOISY] = "32",
		[VERDICT_PLATEAU] = "32",	[VERDICT_SAWTOOTH] = "36",  [VERDICT_JUMP] = "36",
		[VERDICT_WORKLOAD] = "36",	[VERDICT_HOST] = "33",	    [VERDICT_DRIVER] = "33",
		[VERDICT_FRAGMENTATION] = "33", [VERDICT_GROWING] = "1;33", [VERDICT_LEAK] = "1;31",
	};

	sequence(terminal, codes[label]);
}

void terminal_faint(const struct terminal *terminal)
{
	sequence(terminal, "2");
}

void terminal_plain(const struct terminal *terminal)
{
	sequence(terminal, "0");
}

void terminal_space(const struct terminal *terminal, size_t columns)
{
	while (columns--)
		fputc(' ', terminal->out);
}

void terminal_label(const struct terminal *terminal, enum verdict label)
{
	const char *name = verdict_name(label);
	size_t size = strlen(name);

	terminal_verdict(terminal, label);
	fputs(name, terminal->out);
	terminal_plain(terminal);
	terminal_space(terminal, size < LABEL_WIDTH ? LABEL_WIDTH - size : 2);
}
