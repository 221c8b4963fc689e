#include "report/demangle.h"

#include <string.h>

bool demangle_part(struct text *symbol, struct text *name)
{
	size_t length = 0;
	size_t digits = 0;

	while (digits < symbol->size && digits < 4 && symbol->bytes[digits] >= '0' &&
	       symbol->bytes[digits] <= '9')
		length = length * 10 + (size_t)(symbol->bytes[digits++] - '0');
	if (!length || length > symbol->size - digits)
		return false;
	*name = (struct text){symbol->bytes + digits, length};
	*symbol = (struct text){symbol->bytes + digits + length, symbol->size - digits - length};
	return true;
}

static bool append_name(char *to, size_t size, size_t *used, struct text name)
{
	const char *between = *used ? "::" : "";

	if (text_begins(name, "_GLOBAL__N"))
		name = (struct text){"(anonymous)", strlen("(anonymous)")};
	if (memchr(name.bytes, '\0', name.size) || *used + 2 + name.size >= size)
		return false;
	memcpy(to + *used, between, strlen(between));
	*used += strlen(between);
	memcpy(to + *used, name.bytes, name.size);
	*used += name.size;
	to[*used] = '\0';
	return true;
}

static bool skip(struct text *symbol, const char *start)
{
	if (!text_begins(*symbol, start))
		return false;
	symbol->bytes += strlen(start);
	symbol->size -= strlen(start);
	return true;
}

bool demangle(struct text symbol, char *name, size_t size)
{
	struct text part;
	size_t used = 0;

	if (!skip(&symbol, "_Z"))
		return false;
	if (!skip(&symbol, "N"))
		return demangle_part(&symbol, &part) && !text_begins(symbol, "I") &&
		       append_name(name, size, &used, part);
	skip(&symbol, "K");
	while (!skip(&symbol, "E"))
		if (!demangle_part(&symbol, &part) || !append_name(name, size, &used, part))
			return false;
	return used > 0;
}
