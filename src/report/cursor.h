/*
 * A place in some bytes of a trace.  All reading of bytes that came from a file
 * goes through here, where nothing can go past the end.
 */
#ifndef GPULEAK_REPORT_CURSOR_H
#define GPULEAK_REPORT_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/*
 * Copy the next `size` bytes to `dst` and move past them.
 * False, and no movement, when fewer are left.
 */
bool cursor_take(struct cursor *cursor, void *dst, size_t size);

/* Move past the next `size` bytes.  False, and no movement, when fewer are left. */
bool cursor_skip(struct cursor *cursor, uint64_t size);

/* The next `size` bytes in place, and past them.  NULL, and no movement, when fewer are left. */
const uint8_t *cursor_bytes(struct cursor *cursor, uint64_t size);

#endif
