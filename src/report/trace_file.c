#include "report/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/layout.h"

static bool read_at(int fd, uint64_t offset, void *dst, size_t size)
{
	uint8_t *to = dst;

	if (offset > INT64_MAX || size > INT64_MAX - offset)
		return false;
	while (size) {
		ssize_t got = pread(fd, to, size, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		to += got;
		offset += (uint64_t)got;
		size -= (size_t)got;
	}
	return true;
}

bool trace_file_read(const struct trace_file *file, uint64_t offset, void *dst, size_t size)
{
	if (offset > file->size || size > file->size - offset)
		return false;
	return read_at(file->fd, file->base + offset, dst, size);
}

static bool read_slots(const struct trace_file *file, struct gpuleak_slots *slots)
{
	return read_at(file->fd, 0, slots, sizeof(*slots)) &&
	       memcmp(slots->magic, GPULEAK_SLOTS_MAGIC, sizeof(slots->magic)) == 0;
}

/* The trace that was written last, of a file of `file_size` bytes.  False: none is whole. */
static bool choose_slot(struct trace_file *file, const struct gpuleak_slots *slots,
			uint64_t file_size)
{
	file->written = 0;
	for (unsigned i = 0; i < GPULEAK_SLOTS; i++) {
		const struct gpuleak_slot *slot = &slots->slots[i];

		if (slot->written <= file->written || slot->offset > file_size)
			continue;
		file->slot = i;
		file->written = slot->written;
		file->base = slot->offset;
		file->size = file_size - slot->offset;
		if (file->size > slots->slot_size)
			file->size = slots->slot_size;
	}
	return file->written != 0;
}

bool trace_file_steady(struct trace_file *file)
{
	struct gpuleak_slots slots;
	struct stat status;

	if (!file->written || !read_slots(file, &slots) ||
	    slots.slots[file->slot].written == file->written || fstat(file->fd, &status) < 0)
		return true;
	return !choose_slot(file, &slots, (uint64_t)status.st_size);
}

static int check_version(const struct gpuleak_file_header *header, const char *path,
			 struct message *why)
{
	if (memcmp(header->magic, GPULEAK_MAGIC, sizeof(header->magic)) != 0)
		return message_set(why, "%s: not a trace of gpuleak", path);
	if (header->byte_order == __builtin_bswap32(GPULEAK_BYTE_ORDER))
		return message_set(why, "%s: from a machine of another byte order", path);
	if (!header->major || header->major > GPULEAK_FORMAT_MAJOR)
		return message_set(why, "%s: format %u.%u, this program reads up to %u.x", path,
				   header->major, header->minor, GPULEAK_FORMAT_MAJOR);
	return 0;
}

/* Sections lie behind the header and don't share a byte. */
static bool section_sound(const struct gpuleak_file_header *header, uint32_t index)
{
	const struct gpuleak_section *section = &header->sections[index];

	if (!section->item_size || section->offset < sizeof(struct gpuleak_file_header))
		return false;
	if (section->offset > INT64_MAX || section->size > INT64_MAX - section->offset)
		return false;
	for (uint32_t i = 0; i < index; i++) {
		const struct gpuleak_section *other = &header->sections[i];

		if (section->size && other->size && section->offset < other->offset + other->size &&
		    other->offset < section->offset + section->size)
			return false;
	}
	return true;
}

/* What is left of the directory is sound; without the state there is nothing to read. */
static int check_directory(struct trace_file *file, const char *path, struct message *why)
{
	struct gpuleak_file_header *header = &file->header;

	if (header->section_count > GPULEAK_SECTIONS_MAX) {
		header->section_count = GPULEAK_SECTIONS_MAX;
		file->damaged++;
	}
	for (uint32_t i = 0; i < header->section_count; i++) {
		if (!header->sections[i].kind || section_sound(header, i))
			continue;
		header->sections[i] = (struct gpuleak_section){.kind = 0};
		file->damaged++;
	}
	if (!layout_section(header, GPULEAK_SECTION_STATE))
		return message_set(why, "%s: damaged: the section that says what is in use", path);
	return 0;
}

/* A file may hold two traces: then ours is the one that was written last. */
static int find_trace(struct trace_file *file, uint64_t file_size, const char *path,
		      struct message *why)
{
	struct gpuleak_slots slots;

	file->size = file_size;
	if (!read_slots(file, &slots) || choose_slot(file, &slots, file_size))
		return 0;
	return message_set(why, "%s: neither of its two slots is whole", path);
}

static int read_header(struct trace_file *file, const char *path, struct message *why)
{
	struct stat status;

	if (fstat(file->fd, &status) < 0)
		return message_errno(why, "%s", path);
	if (S_ISDIR(status.st_mode))
		return message_set(why, "%s: a folder, not a trace", path);
	if (!S_ISREG(status.st_mode))
		return message_set(why, "%s: not a regular file", path);
	if (find_trace(file, (uint64_t)status.st_size, path, why) < 0)
		return -1;
	if (file->size < sizeof(file->header))
		return message_set(why, "%s: too short for a trace", path);
	if (!trace_file_read(file, 0, &file->header, sizeof(file->header)))
		return message_errno(why, "%s", path);
	file->cut = file->header.file_size > file->size;
	return check_version(&file->header, path, why);
}

int trace_file_open(struct trace_file *file, const char *path, struct message *why)
{
	*file = (struct trace_file){.fd = -1};
	/* O_NONBLOCK: a FIFO of that name must not keep us waiting. */
	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file->fd < 0)
		return message_errno(why, "%s", path);
	if (read_header(file, path, why) < 0 || check_directory(file, path, why) < 0) {
		trace_file_release(file);
		return -1;
	}
	return 0;
}

void trace_file_release(struct trace_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

bool trace_file_section(const struct trace_file *file, uint32_t kind, uint32_t item_size,
			struct trace_section *section)
{
	const struct gpuleak_section *found = layout_section(&file->header, kind);

	*section = (struct trace_section){.item_size = item_size};
	if (!found || found->item_size < item_size)
		return false;
	section->offset = found->offset;
	section->item_size = found->item_size;
	section->items = found->size / found->item_size;
	section->present = section->items;
	if (found->offset >= file->size)
		section->present = 0;
	else if (found->size > file->size - found->offset)
		section->present = (file->size - found->offset) / found->item_size;
	return true;
}
