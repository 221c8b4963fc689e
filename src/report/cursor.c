#include "report/cursor.h"

#include <string.h>

bool cursor_skip(struct cursor *cursor, uint64_t size)
{
	if (size > cursor_left(cursor))
		return false;
	cursor->at += size;
	return true;
}

const uint8_t *cursor_bytes(struct cursor *cursor, uint64_t size)
{
	const uint8_t *bytes = cursor->at;

	return cursor_skip(cursor, size) ? bytes : NULL;
}

bool cursor_take(struct cursor *cursor, void *dst, size_t size)
{
	const uint8_t *bytes = cursor_bytes(cursor, size);

	if (!bytes)
		return false;
	if (size)
		memcpy(dst, bytes, size);
	return true;
}
