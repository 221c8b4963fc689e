#include "trace/layout.h"

#include <stddef.h>
#include <string.h>

/* Shares are in 256ths of what the ring leaves; 0: exactly one run of `items`. */
static const struct share {
	uint32_t kind;
	uint32_t item_size;
	uint32_t items;
	uint32_t share;
} shares[] = {
	{GPULEAK_SECTION_RUN, sizeof(struct gpuleak_run), 1, 0},
	{GPULEAK_SECTION_STATE, sizeof(struct gpuleak_state), 1, 0},
	{GPULEAK_SECTION_DEVICES, sizeof(struct gpuleak_device), GPULEAK_DEVICES_MAX, 0},
	{GPULEAK_SECTION_HOST, sizeof(struct gpuleak_host), 1, 0},
	{GPULEAK_SECTION_DRIVER, sizeof(struct gpuleak_driver), GPULEAK_DEVICES_MAX, 0},
	{GPULEAK_SECTION_SITES, sizeof(struct gpuleak_site), 0, 76},
	{GPULEAK_SECTION_EVIDENCE, sizeof(struct gpuleak_evidence), 0, 92},
	{GPULEAK_SECTION_STRINGS, 4, 0, 24},
	{GPULEAK_SECTION_FRAMES, sizeof(struct gpuleak_frame), 0, 14},
	{GPULEAK_SECTION_STACKS, 4, 0, 20},
	{GPULEAK_SECTION_TIMELINE, sizeof(struct gpuleak_timeline_entry), 0, 24},
	{GPULEAK_SECTION_NOTES, sizeof(struct gpuleak_note), 0, 2},
};

enum {
	SHARES = sizeof(shares) / sizeof(shares[0]),
	FIXED_PAGES = 16
};

static uint64_t pages(uint64_t bytes)
{
	return (bytes + GPULEAK_PAGE - 1) / GPULEAK_PAGE * GPULEAK_PAGE;
}

static void add_section(struct gpuleak_file_header *header, uint32_t kind, uint32_t item_size,
			uint64_t offset, uint64_t size)
{
	header->sections[header->section_count++] = (struct gpuleak_section){
		.kind = kind,
		.item_size = item_size,
		.offset = offset,
		.size = size / item_size * item_size,
	};
}

bool layout_header(struct gpuleak_file_header *header, uint64_t size, uint64_t ring)
{
	uint64_t offset = pages(sizeof(*header));
	uint64_t rest, shared;

	memset(header, 0, sizeof(*header));
	size = size / GPULEAK_PAGE * GPULEAK_PAGE;
	if (size < LAYOUT_SIZE_MIN || size > LAYOUT_SIZE_MAX || ring > size)
		return false;
	rest = size - (uint64_t)FIXED_PAGES * GPULEAK_PAGE;
	ring = ring ? pages(ring) : pages(rest / 3);
	if (ring > rest || rest - ring < LAYOUT_SIZE_MIN / 2)
		return false;
	shared = rest - ring;

	memcpy(header->magic, GPULEAK_MAGIC, sizeof(header->magic));
	header->major = GPULEAK_FORMAT_MAJOR;
	header->minor = GPULEAK_FORMAT_MINOR;
	header->header_size = sizeof(*header);
	header->byte_order = GPULEAK_BYTE_ORDER;
	header->file_size = size;
	for (unsigned i = 0; i < SHARES; i++) {
		uint64_t bytes = (uint64_t)shares[i].item_size * shares[i].items;

		if (shares[i].share)
			bytes = shared / 256 * shares[i].share / GPULEAK_PAGE * GPULEAK_PAGE;
		add_section(header, shares[i].kind, shares[i].item_size, offset, bytes);
		offset += pages(bytes);
	}
	ring = (size - offset) / GPULEAK_PAGE * GPULEAK_PAGE;
	add_section(header, GPULEAK_SECTION_RING, sizeof(struct gpuleak_ring_page), offset, ring);
	return true;
}

const struct gpuleak_section *layout_section(const struct gpuleak_file_header *header,
					     uint32_t kind)
{
	uint32_t count = header->section_count;

	if (count > GPULEAK_SECTIONS_MAX)
		count = GPULEAK_SECTIONS_MAX;
	for (uint32_t i = 0; i < count; i++)
		if (header->sections[i].kind == kind)
			return &header->sections[i];
	return NULL;
}
