/*
 * The append-only parts of a trace: strings, frames and stacks, by id.
 */
#ifndef GPULEAK_REPORT_NAMES_H
#define GPULEAK_REPORT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "trace/format.h"

/* Some bytes that may hold anything, NUL included.  Borrowed. */
struct text {
	const char *bytes; /* NULL: unknown */
	size_t size;
};

struct names {
	uint8_t *strings; /* owned, as in the file */
	size_t strings_size;
	struct gpuleak_frame *frames; /* owned */
	size_t frame_count;
	uint32_t *stacks; /* owned, words as in the file */
	size_t stack_words;
};

enum {
	STACK_FRAMES_MAX = 512
};

/* Frames from the innermost outward.  Borrowed from `struct names`. */
struct stack {
	const uint32_t *frames; /* items of the frames' section; may be out of range */
	uint32_t count;		/* at most STACK_FRAMES_MAX */
	uint32_t own;		/* so many, the innermost, are of the thread that allocates; the
				   others of the one that called backward() */
	bool cut;		/* the outermost frames are missing */
};

void names_release(struct names *names);

/* The string, or none where the id is 0.  False when there is no such string. */
bool names_string(const struct names *names, gpuleak_string_id id, struct text *text);

/* The same; what is damaged is none. */
struct text names_text(const struct names *names, gpuleak_string_id id);

/* The stack that begins at `word`.  False, and no frames, when there is none. */
bool names_stack(const struct names *names, uint32_t word, struct stack *stack);

/* Frame `i` of a stack, or NULL when it is damaged. */
const struct gpuleak_frame *names_frame(const struct names *names, const struct stack *stack,
					uint32_t i);

/* Inlined: most are asked of constants, for each frame of each stack. */
static inline bool text_same(struct text a, struct text b)
{
	return a.size == b.size && (!a.size || memcmp(a.bytes, b.bytes, a.size) == 0);
}

static inline bool text_is(struct text text, const char *other)
{
	return text_same(text, (struct text){other, strlen(other)});
}

static inline bool text_begins(struct text text, const char *start)
{
	size_t size = strlen(start);

	return text.size >= size && memcmp(text.bytes, start, size) == 0;
}

static inline bool text_ends(struct text text, const char *end)
{
	size_t size = strlen(end);

	return text.size >= size && memcmp(text.bytes + text.size - size, end, size) == 0;
}

/* What follows the last '/', the whole text where there is none. */
struct text text_base(struct text path);

/* Take the next of a list of strings that each end in a NUL.  False at its end. */
bool text_next(struct text *list, struct text *item);

#endif
