/*
 * build_big SITES HOLDING FILE: a trace of a million steps with so many sites, of
 * which so many hold memory, to measure the report with.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build_trace.h"

enum {
	STEPS = 1000000,
	FRAMES = 20, /* of a stack */
	DISTINCT_FRAMES = 5000,
};

static void add_frames(struct build *build)
{
	char file[64], function[32];

	for (uint32_t i = 0; i < DISTINCT_FRAMES; i++) {
		bool torch = i % 3 == 0;

		snprintf(file, sizeof(file),
			 torch ? "/opt/venv/lib/python3.11/site-packages/torch/nn/m%u.py"
			       : "/home/me/project/src/model%u.py",
			 i / 20);
		snprintf(function, sizeof(function), "function%u", i);
		build_python_frame(build, file, 10 + i % 500, function);
	}
}

static uint32_t add_stack(struct build *build, uint32_t site)
{
	uint32_t *stacks = build_section(build, GPULEAK_SECTION_STACKS);
	uint64_t word = build->state->stacks_used;

	stacks[word] = FRAMES;
	stacks[word + 1] = 0;
	for (uint32_t i = 0; i < FRAMES; i++)
		stacks[word + 2 + i] =
			(uint32_t)((site * 2654435761u + i * 40503u) >> 4) % DISTINCT_FRAMES;
	build->state->stacks_used += 2 + FRAMES;
	return (uint32_t)word;
}

/* Every hundredth leaks, the others hold what was born in the last steps. */
static void add_evidence(struct build *build, uint32_t site)
{
	struct gpuleak_evidence *all = build_section(build, GPULEAK_SECTION_EVIDENCE);
	struct gpuleak_evidence *evidence = &all[build->state->evidence_used++];
	bool leaks = site % 100 == 0;

	evidence->site = site;
	for (uint32_t v = 0; v < 2; v++) {
		struct gpuleak_evidence_version *version = &evidence->versions[v];

		version->mark = STEPS - v;
		version->birth_shift = leaks ? 15 : 0;
		version->birth_count = leaks ? 30 : 1;
		version->level_shift = 15;
		version->level_count = 31;
		version->deaths[1] = 1000;
		for (uint32_t i = 0; i < version->birth_count; i++)
			version->births[i] = (struct gpuleak_birth){
				.bucket = leaks ? i + 1 : STEPS - 1,
				.count = 32768,
				.bytes = 32768 * 512,
			};
		for (uint32_t i = 0; i < 31; i++)
			version->levels[i] = (struct gpuleak_level){512, 1024, 1, 2};
	}
}

static void add_site(struct build *build, uint32_t site, bool holds)
{
	struct gpuleak_site *sites = build_section(build, GPULEAK_SECTION_SITES);
	struct gpuleak_site *item = &sites[build->state->sites_used++];

	item->stack = add_stack(build, site);
	item->source = GPULEAK_SOURCE_TORCH;
	if (holds)
		add_evidence(build, site);
	for (uint32_t v = 0; v < 2; v++)
		item->versions[v] = (struct gpuleak_site_version){
			.mark = STEPS - v,
			.allocs = 3 * STEPS,
			.frees = 2 * STEPS,
			.live_bytes = holds ? 512ull * 32768 * 30 : 0,
			.live_blocks = holds ? 32768 * 30 : 0,
			.first_step = 1,
			.last_step = STEPS,
			.max_age = 1,
			.rounds = STEPS,
			.evidence = holds ? (uint32_t)build->state->evidence_used : 0,
		};
}

static void add_device(struct build *build)
{
	struct gpuleak_device *devices = build_section(build, GPULEAK_SECTION_DEVICES);
	struct gpuleak_timeline_entry *timeline = build_section(build, GPULEAK_SECTION_TIMELINE);

	build_device(build, 0, "Simulated GPU", 24ull << 30);
	devices[0].versions[0] = (struct gpuleak_device_version){
		.mark = STEPS,
		.allocated = 1ull << 30,
		.reserved = 2ull << 30,
		.peak = 1ull << 30,
		.timeline_count = 2000,
		.timeline_shift = 9,
	};
	for (uint32_t i = 0; i < 2000; i++)
		timeline[i] = (struct gpuleak_timeline_entry){
			.first_step = i * 500 + 1,
			.last_step = i * 500 + 500,
			.when = i * 500ull * 1000000,
			.allocated = i << 18,
			.peak = i << 19,
			.reserved = 1ull << 30,
		};
}

int main(int argc, char **argv)
{
	struct build build;
	uint32_t sites, holding;

	if (argc != 4) {
		fputs("usage: build_big SITES HOLDING FILE\n", stderr);
		return 2;
	}
	sites = (uint32_t)strtoul(argv[1], NULL, 10);
	holding = (uint32_t)strtoul(argv[2], NULL, 10);
	build_init(&build, (64ull << 20) + sites * 2048ull + holding * 16384ull);
	build.run->folder = build_string(&build, "/home/me/project");
	add_frames(&build);
	add_device(&build);
	for (uint32_t i = 0; i < sites; i++)
		add_site(&build, i, (uint64_t)i * holding / sites != (i + 1ull) * holding / sites);
	build.state->begun = build.state->committed = STEPS;
	build.state->marks[0] =
		(struct gpuleak_mark_version){.mark = STEPS, .when = 500000000000, .events = STEPS};
	build_finish(&build);
	if (!build_write(&build, argv[3])) {
		perror(argv[3]);
		return 1;
	}
	build_release(&build);
	return 0;
}
