#include "build_trace.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build_parts.h"
#include "trace/layout.h"

void build_need(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "build_trace: %s\n", what);
	exit(1);
}

void *build_section(struct build *build, uint32_t kind)
{
	const struct gpuleak_section *section = layout_section(build->header, kind);

	build_need(section != NULL, "no such section");
	return build->bytes + section->offset;
}

uint64_t build_items(const struct build *build, uint32_t kind)
{
	const struct gpuleak_section *section = layout_section(build->header, kind);

	return section->size / section->item_size;
}

void build_init_at(struct build *build, uint8_t *bytes, uint64_t size)
{
	struct gpuleak_file_header header;

	*build = (struct build){.bytes = bytes, .size = size, .mapped = true};
	build_need(layout_header(&header, size, 0), "no layout for that size");
	memcpy(bytes, &header, sizeof(header));
	build->header = (struct gpuleak_file_header *)bytes;
	build->run = build_section(build, GPULEAK_SECTION_RUN);
	build->state = build_section(build, GPULEAK_SECTION_STATE);
	build->run->rank = -1;
	build->run->world_size = -1;
	build->run->pid = 4242;
	build->run->ring_page_size = GPULEAK_PAGE;
	build->run->started = 1796000000ull * 1000000000ull;
	build->state->status = GPULEAK_STATUS_RUNNING;
	build->state->strings_used = 4; /* id 0 means none */
	build->step_ns = 10000000;
	build->next_address = 0x7f0000000000;
	build->sites = calloc(BUILD_SITES_MAX, sizeof(*build->sites));
	build->blocks = calloc(BUILD_BLOCKS_MAX, sizeof(*build->blocks));
	build_need(build->sites && build->blocks, "memory");
}

void build_init(struct build *build, uint64_t size)
{
	uint8_t *bytes = calloc(1, size);

	build_need(bytes != NULL, "memory");
	build_init_at(build, bytes, size);
	build->mapped = false;
}

void build_release(struct build *build)
{
	if (!build->mapped)
		free(build->bytes);
	free(build->sites);
	free(build->blocks);
	*build = (struct build){0};
}

gpuleak_string_id build_bytes(struct build *build, const void *bytes, uint32_t size)
{
	uint8_t *strings = build_section(build, GPULEAK_SECTION_STRINGS);
	uint64_t at = build->state->strings_used;

	build_need(at + 4 + size + 4 <= 4 * build_items(build, GPULEAK_SECTION_STRINGS), "strings");
	memcpy(strings + at, &size, sizeof(size));
	memcpy(strings + at + 4, bytes, size);
	build->state->strings_used = at + 4 + (size + 3) / 4 * 4;
	return (gpuleak_string_id)(at / 4);
}

gpuleak_string_id build_string(struct build *build, const char *text)
{
	return build_bytes(build, text, (uint32_t)strlen(text));
}

static uint32_t add_frame(struct build *build, const struct gpuleak_frame *frame)
{
	struct gpuleak_frame *frames = build_section(build, GPULEAK_SECTION_FRAMES);

	build_need(build->state->frames_used < build_items(build, GPULEAK_SECTION_FRAMES),
		   "frames");
	frames[build->state->frames_used] = *frame;
	return (uint32_t)build->state->frames_used++;
}

uint32_t build_python_frame(struct build *build, const char *file, uint32_t line,
			    const char *function)
{
	struct gpuleak_frame frame = {
		.language = GPULEAK_LANGUAGE_PYTHON,
		.line = line,
		.first_line = 1,
		.file = build_string(build, file),
		.function = build_string(build, function),
	};

	frame.qualname = frame.function;
	return add_frame(build, &frame);
}

uint32_t build_native_frame(struct build *build, const char *module, uint64_t offset,
			    const char *symbol)
{
	struct gpuleak_frame frame = {
		.language = GPULEAK_LANGUAGE_NATIVE,
		.offset = offset,
		.module = build_string(build, module),
		.function = symbol[0] ? build_string(build, symbol) : 0,
		.build_id = build_string(build, "0badc0de"),
	};

	return add_frame(build, &frame);
}

/* "file:line:function"; the file may hold colons. */
static uint32_t parse_frame(struct build *build, char *text)
{
	char *function = strrchr(text, ':');
	char *line;

	build_need(function != NULL, "frame without a function");
	*function++ = '\0';
	line = strrchr(text, ':');
	build_need(line != NULL, "frame without a line");
	*line++ = '\0';
	if (text[0] == '!')
		return build_native_frame(build, text + 1, strtoull(line, NULL, 0), function);
	return build_python_frame(build, text, (uint32_t)strtoul(line, NULL, 0), function);
}

uint32_t build_stack(struct build *build, const char *frames)
{
	uint32_t words[2 + BUILD_FRAMES_MAX] = {0};
	uint32_t *stacks = build_section(build, GPULEAK_SECTION_STACKS);
	uint64_t at = build->state->stacks_used;
	char *copy = strdup(frames);
	char *rest = copy;
	char *text;
	bool of_caller = false;

	build_need(copy != NULL, "memory");
	for (;;) {
		text = strsep(&rest, "|");
		if (!text || (!text[0] && (of_caller || !rest)))
			break;
		if (!text[0]) {
			of_caller = true;
			continue;
		}
		build_need(words[0] < BUILD_FRAMES_MAX, "frames of a stack");
		words[2 + words[0]++] = parse_frame(build, text);
		words[1] += of_caller ? 1u << GPULEAK_STACK_CALLER_SHIFT : 0;
	}
	free(copy);
	build_need(at + 2 + words[0] <= build_items(build, GPULEAK_SECTION_STACKS), "stacks");
	memcpy(stacks + at, words, (2 + words[0]) * sizeof(words[0]));
	build->state->stacks_used = at + 2 + words[0];
	return (uint32_t)at;
}

uint32_t build_device(struct build *build, uint32_t device, const char *name, uint64_t capacity)
{
	struct gpuleak_device *devices = build_section(build, GPULEAK_SECTION_DEVICES);
	uint32_t item = build->state->devices;

	devices[item].device = device;
	devices[item].name = build_string(build, name);
	devices[item].uuid = build_string(build, "GPU-00000000-0000-0000-0000-000000000000");
	devices[item].capacity = capacity;
	build->state->devices++;
	return item;
}

uint32_t build_site(struct build *build, uint32_t device, const char *frames, uint8_t flags,
		    struct build_pattern pattern)
{
	struct gpuleak_site *sites = build_section(build, GPULEAK_SECTION_SITES);
	uint32_t item = (uint32_t)build->state->sites_used;

	build_need(item < BUILD_SITES_MAX && item < build_items(build, GPULEAK_SECTION_SITES),
		   "sites");
	sites[item].key = 0x1234567890ull * (item + 1);
	sites[item].stack = build_stack(build, frames);
	sites[item].device = (uint16_t)device;
	sites[item].source = GPULEAK_SOURCE_TORCH;
	sites[item].flags = flags;
	build->sites[item].pattern = pattern;
	build->state->sites_used++;
	return item;
}

static bool is_zero(const uint8_t *bytes, uint64_t size)
{
	return !bytes[0] && memcmp(bytes, bytes + 1, size - 1) == 0;
}

bool build_write(const struct build *build, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	uint64_t done = 0;

	if (fd < 0)
		return false;
	while (done < build->size) {
		uint64_t size =
			build->size - done < GPULEAK_PAGE ? build->size - done : GPULEAK_PAGE;

		/* Empty pages take no room on the disk. */
		if (!is_zero(build->bytes + done, size) &&
		    pwrite(fd, build->bytes + done, size, (off_t)done) != (ssize_t)size)
			break;
		done += size;
	}
	return ftruncate(fd, (off_t)build->size) == 0 && close(fd) == 0 && done == build->size;
}

void build_slots(struct build *build, uint64_t first, uint64_t second)
{
	uint64_t size = (build->size + GPULEAK_PAGE - 1) / GPULEAK_PAGE * GPULEAK_PAGE;
	struct gpuleak_slots head = {
		.magic = GPULEAK_SLOTS_MAGIC,
		.major = GPULEAK_FORMAT_MAJOR,
		.header_size = sizeof(head),
		.byte_order = GPULEAK_BYTE_ORDER,
		.slot_count = GPULEAK_SLOTS,
		.slot_size = size,
		.slots = {{first, GPULEAK_PAGE}, {second, GPULEAK_PAGE + size}},
	};
	uint8_t *bytes = calloc(1, GPULEAK_PAGE + 2 * size);

	if (!bytes) {
		perror("build_slots");
		exit(2);
	}
	memcpy(bytes, &head, sizeof(head));
	for (unsigned i = 0; i < GPULEAK_SLOTS; i++)
		memcpy(bytes + head.slots[i].offset, build->bytes, build->size);
	free(build->bytes);
	build->bytes = bytes;
	build->size = GPULEAK_PAGE + 2 * size;
}
