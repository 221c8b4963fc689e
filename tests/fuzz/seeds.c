/*
 * fuzz_seeds FOLDER: write the traces of tests/report there, as seeds for the fuzzer,
 * with sections only as long as they are used: small inputs are tried more often.
 * One of them is a file with slots, and of each there is one of the oldest format.
 */
#include <stddef.h>
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

/* As 1.0 had it: nothing at the end of the evidence, and none of the later sections. */
static void make_old(struct build *build)
{
	const uint32_t old_size = offsetof(struct gpuleak_evidence, teeth);

	build->header->major = 1;
	build->header->minor = 0;
	for (uint32_t i = 0; i < build->header->section_count; i++) {
		struct gpuleak_section *section = &build->header->sections[i];
		uint8_t *items = build->bytes + section->offset;
		uint64_t count = section->size / section->item_size;

		if (section->kind == GPULEAK_SECTION_HOST ||
		    section->kind == GPULEAK_SECTION_DRIVER)
			section->kind = 0;
		if (section->kind != GPULEAK_SECTION_EVIDENCE)
			continue;
		for (uint64_t item = 1; item < count; item++)
			memmove(items + item * old_size, items + item * section->item_size,
				old_size);
		section->item_size = old_size;
		section->size = count * old_size;
	}
}

static bool write_seed(const struct build *build, const char *folder, const char *name,
		       const char *version)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s%s.bin", folder, name, version);
	if (build_write(build, path))
		return true;
	perror(path);
	return false;
}

int main(int argc, char **argv)
{
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
		if (!write_seed(&build, argv[1], one->name, ""))
			return 1;
		build_release(&build);
		build_init(&build, LAYOUT_SIZE_MIN);
		one->fill(&build);
		compact(&build);
		make_old(&build);
		if (!write_seed(&build, argv[1], one->name, "-1.0"))
			return 1;
		build_release(&build);
	}
	return 0;
}
