/*
 * fuzz_seeds FOLDER: write the traces of tests/report there, as seeds for the fuzzer,
 * with sections only as long as they are used: small inputs are tried more often.
 * One of them is a file with slots.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build_cases.h"
#include "trace/layout.h"

enum {
	RING_PAGES = 2,
	TIMELINE_HALF = 8, /* entries */
};

/* Items of a section that are in use, or enough of them to have something to read. */
static uint64_t used_items(const struct build *build, uint32_t kind)
{
	const struct gpuleak_state *state = build->state;

	switch (kind) {
	case GPULEAK_SECTION_STRINGS:
		return state->strings_used / 4;
	case GPULEAK_SECTION_FRAMES:
		return state->frames_used;
	case GPULEAK_SECTION_STACKS:
		return state->stacks_used;
	case GPULEAK_SECTION_SITES:
		return state->sites_used;
	case GPULEAK_SECTION_EVIDENCE:
		return state->evidence_used;
	case GPULEAK_SECTION_DEVICES:
		return state->devices;
	case GPULEAK_SECTION_TIMELINE:
		return (uint64_t)2 * TIMELINE_HALF * GPULEAK_DEVICES_MAX;
	case GPULEAK_SECTION_NOTES:
		return state->notes_used;
	case GPULEAK_SECTION_RING:
		return RING_PAGES;
	default:
		return 1;
	}
}

/* Move the sections together, in place; the file becomes shorter. */
static void compact(struct build *build)
{
	struct gpuleak_file_header *header = build->header;
	struct gpuleak_file_header packed = *header;
	uint64_t offset = sizeof(*header);

	for (uint32_t i = 0; i < header->section_count; i++) {
		const struct gpuleak_section *from = &header->sections[i];
		uint64_t size = used_items(build, from->kind) * from->item_size;

		packed.sections[i].offset = offset;
		packed.sections[i].size = size;
		offset += (size + 7) / 8 * 8;
	}
	/* In ascending order, so that nothing is overwritten before it is moved. */
	for (uint32_t i = 0; i < header->section_count; i++)
		memmove(build->bytes + packed.sections[i].offset,
			build->bytes + header->sections[i].offset, packed.sections[i].size);
	packed.file_size = offset;
	memcpy(build->bytes, &packed, sizeof(packed));
	build->size = offset;
}

int main(int argc, char **argv)
{
	char path[4096];

	if (argc != 2) {
		fputs("usage: fuzz_seeds FOLDER\n", stderr);
		return 2;
	}
	for (const struct build_case *one = build_cases; one->name; one++) {
		struct build build;

		build_init(&build, LAYOUT_SIZE_MIN);
		one->fill(&build);
		compact(&build);
		if (strcmp(one->name, "jump") == 0)
			build_slots(&build, 2, 1);
		snprintf(path, sizeof(path), "%s/%s.bin", argv[1], one->name);
		if (!build_write(&build, path)) {
			perror(path);
			return 1;
		}
		build_release(&build);
	}
	return 0;
}
