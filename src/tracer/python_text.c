#include "tracer/python_text.h"

#include <string.h>

#include "tracer/python_runtime.h"

#include "tracer/banned.h"

/* A str's characters, `kind` bytes each. */
struct characters {
	const uint8_t *data; /* borrowed from the str */
	size_t count;
	unsigned kind; /* 1, 2 or 4 */
	bool ascii;
};

/* Set for str and every class made from it. */
static const uint64_t STR_SUBCLASS = (uint64_t)1 << 28;

static bool find_characters(const uint8_t *object, const struct python_object_offsets *at,
			    struct characters *found)
{
	const uint8_t *type;
	uint32_t state;
	bool compact;

	if (!object)
		return false;
	type = python_pointer(object, at->type);
	if (!(python_word(type, at->type_flags) & STR_SUBCLASS))
		return false;

	state = (uint32_t)python_int(object, at->str_state) >> at->str_kind_shift;
	compact = state >> 3 & 1;
	*found = (struct characters){
		.count = python_word(object, at->str_length),
		.kind = state & 7,
		.ascii = state >> 4 & 1,
	};
	if (!compact)
		found->data = python_pointer(object, at->str_wide);
	else
		found->data = object + (found->ascii ? at->str_ascii : at->str_wide);
	return found->data && (found->kind == 1 || found->kind == 2 || found->kind == 4);
}

static uint32_t character_at(const struct characters *from, size_t i)
{
	uint16_t two;
	uint32_t four;

	if (from->kind == 1)
		return from->data[i];
	if (from->kind == 2) {
		memcpy(&two, from->data + 2 * i, sizeof(two));
		return two;
	}
	memcpy(&four, from->data + 4 * i, sizeof(four));
	return four;
}

/* Writes 1 to 4 bytes and says how many. */
static unsigned encode(uint32_t character, uint8_t bytes[4])
{
	/* A byte that wasn't UTF-8 in a file name; any other lone surrogate can't be said. */
	if (character >= 0xdc80 && character <= 0xdcff) {
		bytes[0] = (uint8_t)character;
		return 1;
	}
	if ((character >= 0xd800 && character <= 0xdfff) || character > 0x10ffff)
		character = 0xfffd;

	if (character < 0x80) {
		bytes[0] = (uint8_t)character;
		return 1;
	}
	if (character < 0x800) {
		bytes[0] = (uint8_t)(0xc0 | character >> 6);
		bytes[1] = (uint8_t)(0x80 | (character & 0x3f));
		return 2;
	}
	if (character < 0x10000) {
		bytes[0] = (uint8_t)(0xe0 | character >> 12);
		bytes[1] = (uint8_t)(0x80 | (character >> 6 & 0x3f));
		bytes[2] = (uint8_t)(0x80 | (character & 0x3f));
		return 3;
	}
	bytes[0] = (uint8_t)(0xf0 | character >> 18);
	bytes[1] = (uint8_t)(0x80 | (character >> 12 & 0x3f));
	bytes[2] = (uint8_t)(0x80 | (character >> 6 & 0x3f));
	bytes[3] = (uint8_t)(0x80 | (character & 0x3f));
	return 4;
}

bool python_text_copy(const uint8_t *object, const struct python_object_offsets *at, char *text,
		      size_t size)
{
	struct characters from;
	size_t used = 0;

	text[0] = '\0';
	if (!find_characters(object, at, &from))
		return false;

	if (from.ascii) {
		used = from.count < size ? from.count : size - 1;
		memcpy(text, from.data, used);
		text[used] = '\0';
		return true;
	}
	for (size_t i = 0; i < from.count; i++) {
		uint8_t bytes[4];
		unsigned length = encode(character_at(&from, i), bytes);

		if (used + length >= size)
			break;
		memcpy(text + used, bytes, length);
		used += length;
	}
	text[used] = '\0';
	return true;
}
