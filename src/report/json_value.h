/*
 * JSON values, their printing and reading: the only file that knows the library behind it.
 */
#ifndef GPULEAK_REPORT_JSON_VALUE_H
#define GPULEAK_REPORT_JSON_VALUE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/names.h"

/* An object or array.  Owned by what it was added to, or by the caller. */
struct json;

struct json *json_object(void);
struct json *json_array(void);
void json_free(struct json *json);

/* Add to an object under `name`, or to an array where `name` is NULL. */
struct json *json_add_object(struct json *to, const char *name);
struct json *json_add_array(struct json *to, const char *name);
void json_add_null(struct json *to, const char *name);
void json_add_bool(struct json *to, const char *name, bool value);
void json_add_integer(struct json *to, const char *name, uint64_t value);
void json_add_signed(struct json *to, const char *name, int64_t value);

/* null where it isn't finite. */
void json_add_real(struct json *to, const char *name, double value);

/* null where the text is none; made valid UTF-8 and cut at 64 KiB. */
void json_add_text(struct json *to, const char *name, struct text text);
void json_add_string(struct json *to, const char *name, const char *string);

/* Print in one line.  Returns the bytes printed. */
size_t json_write(FILE *out, const struct json *json);

/*
 * Read `size` bytes, which may be anything.  NULL when they are no JSON, or are nested
 * deeper than a thousand times.
 */
struct json *json_read(const char *bytes, size_t size);

/* All of these take NULL, and things of another kind: then there is nothing. */
const struct json *json_get(const struct json *object, const char *name);
const struct json *json_first(const struct json *array);
const struct json *json_next(const struct json *item);
const char *json_string(const struct json *json); /* borrowed from `json` */
double json_number(const struct json *json);	  /* 0: none */

#endif
