#include "tracer/slot_file.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "trace/format.h"
#include "tracer/memory.h"

#include "tracer/banned.h"

enum {
	RUN_MAX = 1 << 20 /* bytes of one write: the file's number is looked at before each */
};

/* From one slot to the next. */
static uint64_t slot_size(uint64_t size)
{
	return (size + GPULEAK_PAGE - 1) / GPULEAK_PAGE * GPULEAK_PAGE;
}

static uint64_t slot_offset(unsigned slot, uint64_t size)
{
	return GPULEAK_PAGE + slot * slot_size(size);
}

uint64_t slot_file_size(uint64_t size)
{
	return slot_offset(GPULEAK_SLOTS, size);
}

/* All of it, or an errno. */
static int write_at(int fd, const void *bytes, uint64_t size, uint64_t offset)
{
	const uint8_t *at = bytes;

	while (size) {
		ssize_t done = pwrite(fd, at, size, (off_t)offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done < 0 ? errno : EIO;
		at += done;
		offset += (uint64_t)done;
		size -= (uint64_t)done;
	}
	return 0;
}

int slot_file_make(int fd, uint64_t size)
{
	struct gpuleak_slots head = {
		.magic = GPULEAK_SLOTS_MAGIC,
		.major = GPULEAK_FORMAT_MAJOR,
		.minor = GPULEAK_FORMAT_MINOR,
		.header_size = sizeof(head),
		.byte_order = GPULEAK_BYTE_ORDER,
		.slot_count = GPULEAK_SLOTS,
		.slot_size = slot_size(size),
		.slots = {{0, slot_offset(0, size)}, {0, slot_offset(1, size)}},
	};

	/* Holes, not blocks: a write that finds no room fails, it raises no signal. */
	if (ftruncate(fd, (off_t)slot_file_size(size)) < 0)
		return errno;
	return write_at(fd, &head, sizeof(head), 0);
}

bool slot_file_open(struct slot_file *slots, struct output_file *file)
{
	uint64_t bytes = slot_size(file->size) / GPULEAK_PAGE * sizeof(uint64_t);

	*slots = (struct slot_file){.file = file, .size = file->size};
	for (unsigned i = 0; i < GPULEAK_SLOTS; i++) {
		slots->tags[i] = memory_take_sparse(bytes);
		if (!slots->tags[i])
			return false;
	}
	return true;
}

/* Write to the file itself, wherever the program has put its descriptor. */
static bool put_at(struct slot_file *slots, const void *bytes, uint64_t size, uint64_t offset)
{
	if (slots->error)
		return false;
	slots->error = output_file_find(slots->file) ? 0 : EBADF;
	if (!slots->error)
		slots->error = write_at(slots->file->fd, bytes, size, offset);
	return !slots->error;
}

static void put_written(struct slot_file *slots, uint64_t written)
{
	put_at(slots, &written, sizeof(written),
	       offsetof(struct gpuleak_slots, slots) + slots->slot * sizeof(struct gpuleak_slot));
}

void slot_file_begin(struct slot_file *slots)
{
	slots->error = 0;
	slots->slot = (unsigned)(slots->written % GPULEAK_SLOTS);
	put_written(slots, 0);
}

/* Two pages of one tag are taken for the same; by chance that is one in 2^64. */
static uint64_t tag_of(const uint8_t *page)
{
	uint64_t lanes[4] = {1, 2, 3, 4};
	uint64_t words[4];
	uint64_t tag = 0;

	for (unsigned at = 0; at < GPULEAK_PAGE; at += sizeof(words)) {
		memcpy(words, page + at, sizeof(words));
		for (unsigned i = 0; i < 4; i++) {
			uint64_t mixed = (lanes[i] ^ words[i]) * 0x9e3779b97f4a7c15ull;

			lanes[i] = mixed << 29 | mixed >> 35;
		}
	}
	for (unsigned i = 0; i < 4; i++)
		tag = (tag ^ lanes[i]) * 0x94d049bb133111ebull ^ tag >> 31;
	return tag ? tag : 1;
}

/* Pages that are neighbours go in one write.  Unknown from before it until it is done. */
static void put_run(struct slot_file *slots, const uint8_t *image, uint64_t first, uint64_t end,
		    const uint64_t *tags)
{
	uint64_t *have = slots->tags[slots->slot];
	uint64_t offset = first * GPULEAK_PAGE;

	if (first == end)
		return;
	memset(have + first, 0, (end - first) * sizeof(*have));
	if (put_at(slots, image + offset, (end - first) * GPULEAK_PAGE,
		   slot_offset(slots->slot, slots->size) + offset))
		memcpy(have + first, tags, (end - first) * sizeof(*have));
}

void slot_file_put(struct slot_file *slots, const uint8_t *image, uint64_t offset, uint64_t size)
{
	uint64_t page = offset / GPULEAK_PAGE;
	uint64_t end = (offset + size + GPULEAK_PAGE - 1) / GPULEAK_PAGE;
	uint64_t first = page; /* of the run that waits to be written */
	uint64_t tags[RUN_MAX / GPULEAK_PAGE];

	for (; size && page < end; page++) {
		uint64_t tag = tag_of(image + page * GPULEAK_PAGE);

		if (slots->tags[slots->slot][page] == tag) {
			put_run(slots, image, first, page, tags);
			first = page + 1;
			continue;
		}
		tags[page - first] = tag;
		if (page + 1 - first == RUN_MAX / GPULEAK_PAGE) {
			put_run(slots, image, first, page + 1, tags);
			first = page + 1;
		}
	}
	put_run(slots, image, first, page, tags);
}

bool slot_file_has(const struct slot_file *slots, uint64_t offset, uint64_t tag)
{
	return slots->tags[slots->slot][offset / GPULEAK_PAGE] == tag;
}

void slot_file_put_page(struct slot_file *slots, const void *page, uint64_t offset, uint64_t tag)
{
	uint64_t *have = &slots->tags[slots->slot][offset / GPULEAK_PAGE];

	*have = 0;
	if (put_at(slots, page, GPULEAK_PAGE, slot_offset(slots->slot, slots->size) + offset))
		*have = tag;
}

bool slot_file_end(struct slot_file *slots)
{
	put_written(slots, slots->written + 1);
	if (slots->error)
		return false;
	slots->written++;
	return true;
}
