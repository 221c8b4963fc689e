/*
 * A place in some bytes of a trace.  All reading of bytes that came from a file
 * goes through here, where nothing can go past the end.  Inlined: a large report takes
 * millions of small items.
 */
#ifndef GPULEAK_REPORT_CURSOR_H
#define GPULEAK_REPORT_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Invariant: at <= end. */
struct cursor {
	const uint8_t *at; /* borrowed */
	const uint8_t *end;
};

static inline struct cursor cursor_over(const void *bytes, size_t size)
{
	return (struct cursor){bytes, (const uint8_t *)bytes + size};
}

static inline size_t cursor_left(const struct cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

/* Move past the next `size` bytes.  False, and no movement, when fewer are left. */
static inline bool cursor_skip(struct cursor *cursor, uint64_t size)
{
	if (size > cursor_left(cursor))
		return false;
	cursor->at += size;
	return true;
}

/* The next `size` bytes in place, and past them.  NULL, and no movement, when fewer are left. */
static inline const uint8_t *cursor_bytes(struct cursor *cursor, uint64_t size)
{
	const uint8_t *bytes = cursor->at;

	return cursor_skip(cursor, size) ? bytes : NULL;
}

/*
 * Copy the next `size` bytes to `dst` and move past them.
 * False, and no movement, when fewer are left.
 */
static inline bool cursor_take(struct cursor *cursor, void *dst, size_t size)
{
	const uint8_t *bytes = cursor_bytes(cursor, size);

	if (!bytes)
		return false;
	if (size)
		memcpy(dst, bytes, size);
	return true;
}

#endif
