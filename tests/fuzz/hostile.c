/*
 * Traces made to take all memory and time: the largest counts, the longest names,
 * stacks and paths that lie on one another.  Sparse, so that they cost little to make.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "limited.h"
#include "test.h"
#include "trace/layout.h"

struct hostile {
	int fd;
	uint8_t *bytes;
	uint64_t size;
	struct gpuleak_file_header *header;
	struct gpuleak_state *state;
};

static void *section(const struct hostile *trace, uint32_t kind, uint64_t *items)
{
	const struct gpuleak_section *found = layout_section(trace->header, kind);

	if (items)
		*items = found->size / found->item_size;
	return trace->bytes + found->offset;
}

static void hostile_init(struct hostile *trace, uint64_t size)
{
	struct gpuleak_file_header header;

	*trace = (struct hostile){.fd = memfd_create("hostile", 0), .size = size};
	if (trace->fd < 0 || ftruncate(trace->fd, (off_t)size) < 0 ||
	    !layout_header(&header, size, 0)) {
		perror("hostile");
		exit(TEST_FAIL);
	}
	trace->bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, trace->fd, 0);
	if (trace->bytes == MAP_FAILED) {
		perror("mmap");
		exit(TEST_FAIL);
	}
	memcpy(trace->bytes, &header, sizeof(header));
	trace->header = (struct gpuleak_file_header *)trace->bytes;
	trace->state = section(trace, GPULEAK_SECTION_STATE, NULL);
	trace->state->begun = trace->state->committed = 1000;
	trace->state->marks[0].mark = 1000;
	trace->state->marks[0].events = 1000;
	trace->state->devices = 1;
}

static void expect_kept(struct hostile *trace, const char *what)
{
	struct outcome outcome;

	munmap(trace->bytes, trace->size); /* or it would count as the report's memory */
	limited_report(trace->fd, true, &outcome);
	close(trace->fd);
	printf("%-28s exit code %d, %.2f s, %lu MiB, %s\n", what, outcome.code, outcome.seconds,
	       (unsigned long)(outcome.memory >> 20), outcome.verdict);
	EXPECT(limited_kept(&outcome));
}

/* Strings that begin in one another, each as long as can be. */
static void fill_strings(struct hostile *trace)
{
	uint64_t words;
	uint32_t *strings = section(trace, GPULEAK_SECTION_STRINGS, &words);

	for (uint64_t i = 1; i < words; i++)
		strings[i] = 0x002f612f + (uint32_t)(i % 7 << 8); /* "/a/" and a NUL */
	for (uint64_t i = 1; i < words; i += 2)
		strings[i] = i * 4 < 4 * words - (1 << 20) ? 1 << 19 : 4;
	trace->state->strings_used = words * 4;
}

static void fill_frames(struct hostile *trace, uint64_t most)
{
	uint64_t count, strings;
	struct gpuleak_frame *frames = section(trace, GPULEAK_SECTION_FRAMES, &count);

	section(trace, GPULEAK_SECTION_STRINGS, &strings);
	count = count < most ? count : most;
	for (uint64_t i = 0; i < count; i++)
		frames[i] = (struct gpuleak_frame){
			.language = 1 + (i % 3 == 0),
			.line = (uint32_t)i,
			.file = (uint32_t)(i * 2 + 1) % (uint32_t)(strings - (1 << 18)),
			.function = (uint32_t)(i * 2 + 3) % (uint32_t)(strings - (1 << 18)),
			.module = 1,
		};
	trace->state->frames_used = count;
}

/* A stack of 256 frames begins at every even word. */
static void fill_stacks(struct hostile *trace, uint64_t most)
{
	uint64_t words;
	uint32_t *stacks = section(trace, GPULEAK_SECTION_STACKS, &words);

	words = words < most ? words : most;
	for (uint64_t i = 0; i < words; i++)
		stacks[i] = i % 2 ? (uint32_t)(i * 2654435761u) % trace->state->frames_used : 256;
	trace->state->stacks_used = words;
}

static void fill_sites(struct hostile *trace, uint64_t most, bool evidence)
{
	uint64_t count, evidence_count;
	struct gpuleak_site *sites = section(trace, GPULEAK_SECTION_SITES, &count);
	struct gpuleak_evidence *items = section(trace, GPULEAK_SECTION_EVIDENCE, &evidence_count);

	count = count < most ? count : most;
	evidence_count = evidence_count < most ? evidence_count : most;
	for (uint64_t i = 0; i < count; i++) {
		sites[i].stack = (uint32_t)(i * 2 % (trace->state->stacks_used - 300));
		sites[i].source = 1 + i % 5 / 4;
		sites[i].flags = (uint8_t)(i % 16);
		sites[i].versions[0] = (struct gpuleak_site_version){
			.mark = 1000,
			.allocs = UINT64_MAX,
			.live_bytes = UINT64_MAX - i,
			.live_blocks = UINT32_MAX,
			.evidence = evidence && i < evidence_count ? (uint32_t)i + 1 : 0,
		};
	}
	for (uint64_t i = 0; evidence && i < evidence_count; i++) {
		items[i].site = (uint32_t)i;
		items[i].versions[0].mark = 1000;
		items[i].versions[0].birth_count = GPULEAK_BIRTHS;
		items[i].versions[0].level_count = GPULEAK_LEVELS;
		for (uint32_t b = 0; b < GPULEAK_BIRTHS; b++)
			items[i].versions[0].births[b] =
				(struct gpuleak_birth){b * 30, UINT32_MAX, UINT64_MAX};
	}
	trace->state->sites_used = count;
	trace->state->evidence_used = evidence ? evidence_count : 0;
}

static void fill_device(struct hostile *trace)
{
	uint64_t entries;
	struct gpuleak_device *devices = section(trace, GPULEAK_SECTION_DEVICES, NULL);

	section(trace, GPULEAK_SECTION_TIMELINE, &entries);
	devices[0].versions[0].mark = 1000;
	devices[0].versions[0].timeline_count = (uint32_t)(entries / 32);
	trace->state->notes_used = 1000;
	trace->state->ring_claimed = UINT64_MAX;
}

static void most_of_all(uint64_t size, uint64_t sites, bool evidence, const char *what)
{
	struct hostile trace;

	hostile_init(&trace, size);
	fill_strings(&trace);
	fill_frames(&trace, 1 << 20);
	fill_stacks(&trace, 1 << 22);
	fill_sites(&trace, sites, evidence);
	fill_device(&trace);
	expect_kept(&trace, what);
}

/* A file of a tebibyte that is nearly empty, but says that all of it is used. */
static void huge_and_empty(void)
{
	struct hostile trace;

	hostile_init(&trace, LAYOUT_SIZE_MAX / 64);
	memset(&trace.state->strings_used, 0x3f, 64);
	trace.state->devices = UINT32_MAX;
	expect_kept(&trace, "huge and empty");
}

/* Items of a size that no piece of memory holds. */
static void large_items(void)
{
	struct hostile trace;

	hostile_init(&trace, 64 << 20);
	for (uint32_t i = 2; i < trace.header->section_count; i++)
		trace.header->sections[i].item_size =
			(uint32_t)trace.header->sections[i].size / (1 + i % 3);
	memset(&trace.state->strings_used, 0xff, 56);
	expect_kept(&trace, "large items");
}

int main(void)
{
	most_of_all(64 << 20, UINT32_MAX, true, "full, 64 MiB");
	most_of_all(1024ull << 20, 200000, true, "200,000 sites");
	most_of_all(1400ull << 20, 300000, true, "300,000 sites");
	most_of_all(1400ull << 20, 900000, false, "900,000 sites without evidence");
	most_of_all(1400ull << 20, UINT32_MAX, true, "more than is read");
	huge_and_empty();
	large_items();
	return test_result();
}
