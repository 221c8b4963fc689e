#include "report/escape.h"

#include <inttypes.h>
#include <string.h>

#include "report/memory.h"

/* Bytes of the character that begins with `first`, and the lowest character that needs them. */
static unsigned utf8_length(uint8_t first, uint32_t *lowest)
{
	static const uint32_t lowest_of[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned length = 0;

	if (first < 0x80)
		length = 1;
	else if (first >= 0xc2 && first < 0xe0)
		length = 2;
	else if (first >= 0xe0 && first < 0xf0)
		length = 3;
	else if (first >= 0xf0 && first < 0xf5)
		length = 4;
	*lowest = lowest_of[length];
	return length;
}

static void text_skip(struct text *text, size_t size)
{
	text->bytes += size;
	text->size -= size;
}

bool utf8_take(struct text *text, uint32_t *character)
{
	const uint8_t *bytes = (const uint8_t *)text->bytes;
	uint32_t lowest, value;
	unsigned length = utf8_length(bytes[0], &lowest);
	bool valid = length && length <= text->size;

	value = length > 1 ? bytes[0] & (0x7fu >> length) : bytes[0];
	for (unsigned i = 1; valid && i < length; i++) {
		valid = (bytes[i] & 0xc0) == 0x80;
		value = value << 6 | (bytes[i] & 0x3f);
	}
	if (value < lowest || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
		valid = false;
	*character = valid ? value : bytes[0];
	text_skip(text, valid ? length : 1);
	return valid;
}

bool character_harmful(uint32_t character)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{0x00, 0x1f},	  {0x7f, 0x9f},	      {0x61c, 0x61c}, /* Arabic letter mark */
		{0x200b, 0x200f}, /* without width; marks of direction */
		{0x2028, 0x202e}, /* ends of lines and paragraphs; embeddings, overrides */
		{0x2060, 0x206f}, /* invisible; isolates */
		{0xfeff, 0xfeff}, /* without width */
		{0xfff9, 0xfffb}, {0xe0000, 0xe0fff}, /* tags */
	};

	for (unsigned i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (character >= ranges[i].first && character <= ranges[i].last)
			return true;
	return false;
}

/* Columns it takes: good enough to keep lines within the terminal. */
static size_t character_width(uint32_t character)
{
	bool wide = (character >= 0x1100 && character < 0x1160) ||
		    (character >= 0x2e80 && character < 0xa4d0) ||
		    (character >= 0xac00 && character < 0xd7a4) ||
		    (character >= 0xf900 && character < 0xfb00) ||
		    (character >= 0xfe30 && character < 0xfe70) ||
		    (character >= 0xff00 && character < 0xff61) ||
		    (character >= 0x1f300 && character < 0x1fb00) ||
		    (character >= 0x20000 && character < 0x3fffe);

	return wide ? 2 : 1;
}

/* One character as it is printed: `bytes` of them, and its columns. */
struct piece {
	char bytes[16];
	size_t size;
	size_t columns;
};

static void piece_take(struct piece *piece, struct text *text)
{
	struct text before = *text;
	uint32_t character;
	bool valid = utf8_take(text, &character);

	if (!valid || (character < 0x100 && character_harmful(character))) {
		const char *form = valid && character >= 0x80 ? "\\u%04" PRIx32 : "\\x%02" PRIx32;

		if (character == '\t')
			form = " ";
		piece->size = (size_t)snprintf(piece->bytes, sizeof(piece->bytes), form, character);
		piece->columns = piece->size;
	} else if (character_harmful(character)) {
		piece->size = (size_t)snprintf(piece->bytes, sizeof(piece->bytes), "\\u%04" PRIx32,
					       character);
		piece->columns = piece->size;
	} else {
		piece->size = before.size - text->size;
		memcpy(piece->bytes, before.bytes, piece->size);
		piece->columns = character_width(character);
	}
}

size_t escape_print(FILE *out, struct text text)
{
	return escape_print_cut(out, text, SIZE_MAX);
}

size_t escape_print_cut(FILE *out, struct text text, size_t columns)
{
	size_t used = 0;

	while (text.size) {
		struct piece piece;

		piece_take(&piece, &text);
		if (piece.columns > columns - used ||
		    (piece.columns == columns - used && text.size)) {
			if (used < columns)
				used += fputs("…", out) >= 0;
			break;
		}
		fwrite(piece.bytes, 1, piece.size, out);
		used += piece.columns;
	}
	return used;
}

/* Move past what needs no look: ASCII without controls. */
static void skip_plain(struct text *text)
{
	size_t plain = 0;

	while (plain < text->size && text->bytes[plain] >= ' ' && text->bytes[plain] < 0x7f)
		plain++;
	text_skip(text, plain);
}

char *escape_valid(struct text text, size_t max)
{
	static const char replacement[] = "\xef\xbf\xbd";
	bool cut = text.size > max;
	char *copy, *to;

	if (cut)
		text.size = max;
	copy = to = memory_new(text.size * 3 + sizeof(replacement), 1);
	while (text.size) {
		const char *from = text.bytes;
		uint32_t character;
		bool valid;

		skip_plain(&text);
		memcpy(to, from, (size_t)(text.bytes - from));
		to += text.bytes - from;
		if (!text.size)
			break;
		from = text.bytes;
		valid = utf8_take(&text, &character) && character;
		if (!valid)
			from = replacement;
		memcpy(to, from, valid ? (size_t)(text.bytes - from) : 3);
		to += valid ? text.bytes - from : 3;
	}
	if (cut)
		memcpy(to, replacement, sizeof(replacement));
	return copy;
}

void escape_print_json(FILE *out, const char *json)
{
	struct text text = {json, strlen(json)};
	const char *plain = json; /* not yet printed */

	while (text.size) {
		const char *from;
		uint32_t character;
		bool valid;

		skip_plain(&text);
		if (!text.size)
			break;
		from = text.bytes;
		valid = utf8_take(&text, &character);
		if (valid &&
		    (character == '\n' || character == '\t' || !character_harmful(character)))
			continue;
		fwrite(plain, 1, (size_t)(from - plain), out);
		plain = text.bytes;
		if (!valid)
			fputs("\\ufffd", out);
		else if (character < 0x10000)
			fprintf(out, "\\u%04" PRIx32, character);
		else
			fprintf(out, "\\u%04" PRIx32 "\\u%04" PRIx32,
				0xd800 + ((character - 0x10000) >> 10),
				0xdc00 + ((character - 0x10000) & 0x3ff));
	}
	fwrite(plain, 1, (size_t)(text.bytes - plain), out);
}
