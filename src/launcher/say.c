#include "launcher/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void out_of_memory(void)
{
	fputs("gpuleak: out of memory\n", stderr);
	exit(2);
}

static char *text_vformat(const char *format, va_list arguments)
{
	char *text;

	if (vasprintf(&text, format, arguments) < 0)
		out_of_memory();
	return text;
}

char *text_format(const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = text_vformat(format, arguments);
	va_end(arguments);
	return text;
}

void text_tame(char *text)
{
	for (unsigned char *at = (unsigned char *)text; *at; at++) {
		if (*at < 0x20 || *at == 0x7f)
			*at = '?';
		else if (at[0] == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f) /* C1, as UTF-8 */
			at[0] = at[1] = '?';
	}
}

void say(const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = text_vformat(format, arguments);
	va_end(arguments);
	text_tame(text);
	fprintf(stderr, "gpuleak: %s\n", text);
	free(text);
}

void names_add(struct names *names, char *text)
{
	names->items = reallocarray(names->items, names->count + 2, sizeof(*names->items));
	if (!names->items)
		out_of_memory();
	names->items[names->count++] = text;
	names->items[names->count] = NULL;
}

void names_release(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->items[i]);
	free(names->items);
	*names = (struct names){0};
}
