#include "report/json_value.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/escape.h"
#include "report/memory.h"

enum {
	TEXT_MAX = 64 << 10 /* bytes */
};

static cJSON *item_of(struct json *json)
{
	return (cJSON *)json;
}

/* What the library returns when memory is out ends the program, as everywhere. */
static cJSON *item_there(cJSON *item)
{
	if (!item)
		memory_ended();
	return item;
}

static void add(struct json *to, const char *name, cJSON *item)
{
	cJSON_bool added;

	item_there(item);
	if (name)
		added = cJSON_AddItemToObjectCS(item_of(to), name, item);
	else
		added = cJSON_AddItemToArray(item_of(to), item);
	if (!added)
		memory_ended();
}

struct json *json_object(void)
{
	return (struct json *)item_there(cJSON_CreateObject());
}

struct json *json_array(void)
{
	return (struct json *)item_there(cJSON_CreateArray());
}

void json_free(struct json *json)
{
	cJSON_Delete(item_of(json));
}

struct json *json_add_object(struct json *to, const char *name)
{
	struct json *object = json_object();

	add(to, name, item_of(object));
	return object;
}

struct json *json_add_array(struct json *to, const char *name)
{
	struct json *array = json_array();

	add(to, name, item_of(array));
	return array;
}

void json_add_null(struct json *to, const char *name)
{
	add(to, name, cJSON_CreateNull());
}

void json_add_bool(struct json *to, const char *name, bool value)
{
	add(to, name, cJSON_CreateBool(value));
}

/* Numbers are doubles to the library: too few digits for sizes, and exponents. */
void json_add_integer(struct json *to, const char *name, uint64_t value)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%" PRIu64, value);
	add(to, name, cJSON_CreateRaw(digits));
}

void json_add_signed(struct json *to, const char *name, int64_t value)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%" PRId64, value);
	add(to, name, cJSON_CreateRaw(digits));
}

void json_add_real(struct json *to, const char *name, double value)
{
	char digits[64];

	if (!isfinite(value)) {
		json_add_null(to, name);
		return;
	}
	snprintf(digits, sizeof(digits), fabs(value) < 1e15 ? "%.3f" : "%.1f", value);
	add(to, name, cJSON_CreateRaw(digits));
}

void json_add_text(struct json *to, const char *name, struct text text)
{
	char *valid;

	if (!text.bytes) {
		json_add_null(to, name);
		return;
	}
	valid = escape_valid(text, TEXT_MAX);
	add(to, name, cJSON_CreateString(valid));
	free(valid);
}

void json_add_string(struct json *to, const char *name, const char *string)
{
	json_add_text(to, name, (struct text){string, string ? strlen(string) : 0});
}

size_t json_write(FILE *out, const struct json *json)
{
	char *text = cJSON_PrintUnformatted((const cJSON *)json);
	size_t size;

	if (!text)
		memory_ended();
	size = strlen(text);
	escape_print_json(out, text);
	cJSON_free(text);
	return size;
}

struct json *json_read(const char *bytes, size_t size)
{
	return (struct json *)cJSON_ParseWithLength(bytes, size);
}

static const cJSON *item_read(const struct json *json)
{
	return (const cJSON *)json;
}

const struct json *json_get(const struct json *object, const char *name)
{
	if (!cJSON_IsObject(item_read(object)))
		return NULL;
	return (const struct json *)cJSON_GetObjectItemCaseSensitive(item_read(object), name);
}

const struct json *json_first(const struct json *array)
{
	return cJSON_IsArray(item_read(array)) ? (const struct json *)item_read(array)->child
					       : NULL;
}

const struct json *json_next(const struct json *item)
{
	return item ? (const struct json *)item_read(item)->next : NULL;
}

const char *json_string(const struct json *json)
{
	return cJSON_GetStringValue(item_read(json));
}

double json_number(const struct json *json)
{
	double number = cJSON_IsNumber(item_read(json)) ? item_read(json)->valuedouble : 0;

	return isfinite(number) ? number : 0;
}
