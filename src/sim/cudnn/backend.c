/*
 * cuDNN's backend interface: descriptors with attributes.
 *
 * A descriptor gives back what was set.  What cuDNN itself would work out is answered so that every
 * graph has exactly one engine, without knobs, and one plan.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/core/copy.h"
#include "sim/cudnn/cudnn.h"
#include "sim/standin.h"

enum type {
	TYPE_HANDLE = 0,
	TYPE_BOOLEAN = 2,
	TYPE_INT64 = 3,
	TYPE_DOUBLE = 5,
	TYPE_POINTER = 6,
	TYPE_DESCRIPTOR = 15,
	TYPE_INT32 = 23,
	TYPE_CHAR = 24,
	TYPE_FRACTION = 26,
};

enum name {
	HEURISTICS_GRAPH = 201,
	HEURISTICS_RESULTS = 202,
	CONFIG_ENGINE = 300,
	CONFIG_KNOBS = 302,
	CONFIG_WORKSPACE = 303,
	CONFIG_SHARED_MEMORY = 304,
	PLAN_WORKSPACE = 402,
	PLAN_COMPUTED = 403,
	PLAN_RUN_ONLY = 404,
	PLAN_JSON = 405,
	GRAPH_ENGINES = 802,
	ENGINE_GRAPH = 1300,
	ENGINE_INDEX = 1301,
	ENGINE_KNOBS = 1302,
	ENGINE_NUMERICAL_NOTES = 1303,
	ENGINE_BEHAVIOUR_NOTES = 1305,
};

/* What a plan asks PyTorch for while it runs; cuDNN's own differs by shape and device. */
enum {
	WORKSPACE = 512 << 10
};

/* One attribute that was set. */
struct attribute {
	struct attribute *next;
	int name, type;
	int64_t count;
	uint8_t bytes[];
};

/* Lives while its maker or an attribute of another one refers to it. */
struct descriptor {
	atomic_int references;
	int kind;		      /* cudnnBackendDescriptorType_t */
	struct attribute *attributes; /* owned */
};

static size_t size_of(int type)
{
	switch (type) {
	case TYPE_BOOLEAN:
	case TYPE_CHAR:
		return 1;
	case TYPE_HANDLE:
	case TYPE_INT64:
	case TYPE_DOUBLE:
	case TYPE_POINTER:
	case TYPE_DESCRIPTOR:
		return 8;
	case TYPE_FRACTION:
		return 16;
	}
	return 4;
}

static struct attribute *find(const struct descriptor *descriptor, int name)
{
	struct attribute *attribute = descriptor->attributes;

	while (attribute && attribute->name != name)
		attribute = attribute->next;
	return attribute;
}

static void give(struct descriptor *descriptor);

/* The descriptors that an attribute refers to. */
static void refer(const struct attribute *attribute, bool take)
{
	struct descriptor *target;

	for (int64_t i = 0; attribute->type == TYPE_DESCRIPTOR && i < attribute->count; i++) {
		memcpy(&target, attribute->bytes + i * 8, sizeof(target));
		if (target && take)
			atomic_fetch_add(&target->references, 1);
		else if (target)
			give(target);
	}
}

static void free_attribute(struct attribute *attribute)
{
	refer(attribute, false);
	free(attribute);
}

static void clear(struct descriptor *descriptor)
{
	struct attribute *next;

	for (struct attribute *a = descriptor->attributes; a; a = next) {
		next = a->next;
		free_attribute(a);
	}
	descriptor->attributes = NULL;
}

/* Drop one reference. */
static void give(struct descriptor *descriptor)
{
	if (atomic_fetch_sub(&descriptor->references, 1) > 1)
		return;
	clear(descriptor);
	free(descriptor);
}

static int set(struct descriptor *descriptor, int name, int type, int64_t count, const void *values)
{
	size_t size = (size_t)count * size_of(type);
	struct attribute *attribute, **link;

	if (count < 0 || (count && !values))
		return CUDNN_BAD_PARAM;
	attribute = malloc(sizeof(*attribute) + size);
	if (!attribute)
		return CUDNN_ALLOC_FAILED;
	*attribute = (struct attribute){.name = name, .type = type, .count = count};
	if (size)
		memcpy(attribute->bytes, values, size);
	refer(attribute, true);

	for (link = &descriptor->attributes; *link; link = &(*link)->next) {
		if ((*link)->name != name)
			continue;
		attribute->next = (*link)->next;
		free_attribute(*link);
		break;
	}
	*link = attribute;
	return CUDNN_OK;
}

static int copy(struct descriptor *to, const struct descriptor *from)
{
	int error = CUDNN_OK;

	if (to == from)
		return CUDNN_OK;
	clear(to);
	for (const struct attribute *a = from->attributes; a && !error; a = a->next)
		error = set(to, a->name, a->type, a->count, a->bytes);
	return error;
}

SIM_EXPORT int cudnnBackendCreateDescriptor(int kind, struct descriptor **descriptor)
{
	*descriptor = calloc(1, sizeof(**descriptor));
	if (!*descriptor)
		return CUDNN_ALLOC_FAILED;
	(*descriptor)->references = 1;
	(*descriptor)->kind = kind;
	return CUDNN_OK;
}

SIM_EXPORT int cudnnBackendDestroyDescriptor(struct descriptor *descriptor)
{
	if (descriptor)
		give(descriptor);
	return CUDNN_OK;
}

SIM_EXPORT int cudnnBackendInitialize(struct descriptor *descriptor)
{
	clear(descriptor);
	return CUDNN_OK;
}

SIM_EXPORT int cudnnBackendFinalize(struct descriptor *descriptor)
{
	(void)descriptor;
	return CUDNN_OK;
}

SIM_EXPORT int cudnnBackendSetAttribute(struct descriptor *descriptor, int name, int type,
					int64_t count, const void *values)
{
	return set(descriptor, name, type, count, values);
}

/* One number, of 4 or 8 bytes, or only that there is one. */
static int answer_number(int64_t number, size_t size, int64_t wanted, int64_t *count, void *values)
{
	int32_t narrow = (int32_t)number;

	if (count)
		*count = 1;
	if (wanted > 0 && values)
		memcpy(values, size == sizeof(narrow) ? (void *)&narrow : (void *)&number, size);
	return CUDNN_OK;
}

static int answer_none(int64_t *count)
{
	if (count)
		*count = 0;
	return CUDNN_OK;
}

static int answer_text(const char *text, int64_t wanted, int64_t *count, void *values)
{
	int64_t length = (int64_t)strlen(text) + 1;

	if (count)
		*count = length;
	if (wanted >= length && values)
		memcpy(values, text, (size_t)length);
	return CUDNN_OK;
}

/* The one engine that fits a graph. */
static int configure(struct descriptor *configuration, const struct attribute *graph)
{
	enum {
		KIND_ENGINE = 2
	};
	struct descriptor *engine;
	int64_t index = 0;
	int error;

	error = cudnnBackendCreateDescriptor(KIND_ENGINE, &engine);
	if (error)
		return error;
	error = set(engine, ENGINE_INDEX, TYPE_INT64, 1, &index);
	if (!error && graph)
		error = set(engine, ENGINE_GRAPH, TYPE_DESCRIPTOR, 1, graph->bytes);
	if (!error)
		error = set(configuration, CONFIG_ENGINE, TYPE_DESCRIPTOR, 1, &engine);
	give(engine);
	return error;
}

static int answer_results(const struct descriptor *heuristics, int64_t wanted, int64_t *count,
			  struct descriptor **configurations)
{
	if (count)
		*count = 1;
	if (wanted < 1 || !configurations)
		return CUDNN_OK;
	return configure(configurations[0], find(heuristics, HEURISTICS_GRAPH));
}

/* Descriptors are filled in place: the caller has made them. */
static int answer_descriptors(const struct attribute *attribute, int64_t count,
			      struct descriptor **values)
{
	struct descriptor *source;
	int error = CUDNN_OK;

	for (int64_t i = 0; i < count && !error; i++) {
		memcpy(&source, attribute->bytes + i * 8, sizeof(source));
		if (values[i] && source)
			error = copy(values[i], source);
	}
	return error;
}

static int answer_stored(const struct descriptor *descriptor, int name, int64_t wanted,
			 int64_t *count, void *values)
{
	struct attribute *attribute = find(descriptor, name);
	int64_t given;

	if (!attribute)
		return answer_none(count);
	if (count)
		*count = attribute->count;
	given = wanted < attribute->count ? wanted : attribute->count;
	if (given <= 0 || !values)
		return CUDNN_OK;
	if (attribute->type == TYPE_DESCRIPTOR)
		return answer_descriptors(attribute, given, values);
	memcpy(values, attribute->bytes, (size_t)given * size_of(attribute->type));
	return CUDNN_OK;
}

SIM_EXPORT int cudnnBackendGetAttribute(struct descriptor *descriptor, int name, int type,
					int64_t wanted, int64_t *count, void *values)
{
	(void)type;
	switch (name) {
	case GRAPH_ENGINES:
		return answer_number(1, 8, wanted, count, values);
	case HEURISTICS_RESULTS:
		return answer_results(descriptor, wanted, count, values);
	case PLAN_WORKSPACE:
	case CONFIG_WORKSPACE:
		return answer_number(WORKSPACE, 8, wanted, count, values);
	case CONFIG_SHARED_MEMORY:
		return answer_number(0, 4, wanted, count, values);
	case CONFIG_KNOBS:
	case ENGINE_KNOBS:
	case ENGINE_NUMERICAL_NOTES:
	case ENGINE_BEHAVIOUR_NOTES:
	case PLAN_COMPUTED:
	case PLAN_RUN_ONLY:
		return answer_none(count);
	case PLAN_JSON:
		return answer_text("{}", wanted, count, values);
	}
	return answer_stored(descriptor, name, wanted, count, values);
}

SIM_EXPORT int cudnnBackendExecute(void *handle, struct descriptor *plan, struct descriptor *pack)
{
	(void)handle;
	(void)plan;
	(void)pack;
	gpusim_kernel(NULL, NULL);
	return CUDNN_OK;
}
