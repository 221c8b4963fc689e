/*
 * Text from a trace, made harmless: names may hold escape sequences for a
 * terminal, marks that turn the direction of what follows, or bytes that are no
 * UTF-8.
 */
#ifndef GPULEAK_REPORT_ESCAPE_H
#define GPULEAK_REPORT_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/names.h"

/*
 * Take one character of UTF-8 from the front of `text`.  False when there is no
 * valid one there: then one byte is taken and is the value.  Not for empty text.
 */
bool utf8_take(struct text *text, uint32_t *character);

/* True of controls (C0, C1, delete) and of what changes direction or ends lines unseen. */
bool character_harmful(uint32_t character);

/* Print, harmful characters as \x1b or \u202e, other bytes as \xff.  Returns the columns taken. */
size_t escape_print(FILE *out, struct text text);

/* Print at most `columns` columns of it, the last one an ellipsis where it is cut. */
size_t escape_print_cut(FILE *out, struct text text, size_t columns);

/* A copy that is valid UTF-8 and without NUL, owned by the caller: each bad byte
 * becomes U+FFFD, as does what doesn't fit into `max` bytes.  */
char *escape_valid(struct text text, size_t max);

/* Print JSON text; harmful characters in it become \u escapes. */
void escape_print_json(FILE *out, const char *json);

#endif
