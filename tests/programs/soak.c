/*
 * Very many events, counted a second time by itself.
 * Usage: soak STEPS PAIRS SITES LIVE COUNTS [EVERY]
 *
 * Each of STEPS steps makes PAIRS allocations, below any of SITES call stacks, and as many
 * frees.  Four of five blocks die in their step.  The fifth is kept, by one of SITES / 10 stacks,
 * until LIVE blocks live: then each that is kept drives out one of the kept, any.
 * EVERY: not every fifth but every such.
 *
 * COUNTS gets for each stack with a block: its number, allocations, frees, live blocks and
 * live bytes, a line each.  Standard output: one line of JSON, with what memory the process
 * had before the first event, at a tenth and at the end.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuleak/gpuleak.h"

#include "fake.h"
#include "site_stack.h"

#pragma weak gpuleak_step

enum {
	UNIT = 512 /* bytes */
};

static uint64_t kept_every = 5;

struct count {
	uint64_t allocs, frees, live, bytes;
};

struct block {
	uint64_t address;
	uint32_t size;
	uint32_t site;
};

static struct count *counts;
static struct block *kept;
static uint64_t kept_count, live_max, sites, random_state = 88172645463325252u;
static uint64_t next_address = 1 << 20;

/* xorshift64: the same in every run. */
static uint64_t any(uint64_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % below;
}

static void perform(void *data)
{
	const struct block *block = data;

	fake_alloc_at(0, block->address, block->size);
}

/* Site numbers have eight digits, so that all stacks are equally deep. */
static void take(struct block *block)
{
	struct count *count = &counts[block->site];

	site_call(0x10000000 + block->site, perform, block);
	count->allocs++;
	count->live++;
	count->bytes += block->size;
}

static void give(const struct block *block)
{
	struct count *count = &counts[block->site];

	fake_free_at(0, block->address, block->size);
	count->frees++;
	count->live--;
	count->bytes -= block->size;
}

static struct block *place_to_keep(void)
{
	struct block *place;

	if (kept_count < live_max)
		return &kept[kept_count++];
	place = &kept[any(live_max)];
	give(place);
	return place;
}

static void pair(void)
{
	bool keep = any(kept_every) == 0;
	struct block block = {
		.address = next_address,
		.size = (uint32_t)(UNIT * (1 + any(64))),
		.site = (uint32_t)any((keep ? sites / 10 : sites)),
	};
	struct block *place;

	next_address += 64 * UNIT;
	if (keep) {
		place = place_to_keep();
		*place = block;
		take(place);
	} else {
		take(&block);
		give(&block);
	}
}

/* Memory of the process's own in bytes, not that of files. */
static uint64_t memory(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	unsigned long kib = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "RssAnon: %lu", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return 1024ull * kib;
}

static int write_counts(const char *path)
{
	FILE *file = fopen(path, "we");

	if (!file)
		return 1;
	for (uint64_t i = 0; i < sites; i++)
		if (counts[i].allocs)
			fprintf(file,
				"%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", i,
				counts[i].allocs, counts[i].frees, counts[i].live, counts[i].bytes);
	return fclose(file) != 0;
}

static void *touched(uint64_t count, uint64_t size)
{
	void *memory_of = malloc(count * size);

	if (!memory_of) {
		perror("soak");
		exit(2);
	}
	memset(memory_of, 1, count * size); /* else its pages come later */
	memset(memory_of, 0, count * size);
	return memory_of;
}

int main(int argc, char **argv)
{
	uint64_t steps, pairs, before, tenth = 0;

	if (argc != 6 && argc != 7)
		return 2;
	if (argc == 7)
		kept_every = strtoull(argv[6], NULL, 10);
	steps = strtoull(argv[1], NULL, 10);
	pairs = strtoull(argv[2], NULL, 10);
	sites = strtoull(argv[3], NULL, 10);
	live_max = strtoull(argv[4], NULL, 10);
	counts = touched(sites, sizeof(*counts));
	kept = touched(live_max, sizeof(*kept));
	before = memory();
	for (uint64_t step = 0; step < steps; step++) {
		for (uint64_t i = 0; i < pairs; i++)
			pair();
		if (gpuleak_step)
			gpuleak_step();
		if (step + 1 == steps / 10)
			tenth = memory();
	}
	printf("{\"before\": %" PRIu64 ", \"tenth\": %" PRIu64 ", \"end\": %" PRIu64
	       ", \"allocated\": %" PRIu64 ", \"live\": %" PRIu64 "}\n",
	       before, tenth, memory(), fake_allocated(0), kept_count);
	return write_counts(argv[5]);
}
