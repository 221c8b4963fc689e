#include "ledger.h"

#include <stdlib.h>
#include <string.h>

#include "tracer/evidence.h"
#include "tracer/teeth.h"

static void *must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

void ledger_init(struct ledger *ledger)
{
	memset(ledger, 0, sizeof(*ledger));
	ledger->marks_per_step = 1;
}

void ledger_release(struct ledger *ledger)
{
	for (uint32_t i = 0; i < WORLD_SITES; i++)
		free(ledger->sites[i].evidence);
	free(ledger->blocks);
	free(ledger->deaths);
}

static struct ledger_site *touch(struct ledger *ledger, uint32_t site)
{
	struct ledger_site *one = &ledger->sites[site];

	if (!one->touched)
		ledger->touched[ledger->touched_count++] = site;
	one->touched = true;
	if (one->version.allocs == 0)
		one->version.first_step = ledger->step;
	one->version.last_step = ledger->step;
	return one;
}

static void note_level(struct ledger *ledger)
{
	if (ledger->allocated > ledger->step_peak)
		ledger->step_peak = ledger->allocated;
	if (ledger->allocated < ledger->step_trough)
		ledger->step_trough = ledger->allocated;
	if (ledger->allocated > ledger->peak)
		ledger->peak = ledger->allocated;
}

static void on_alloc(void *context, uint32_t site, uint32_t block, uint64_t bytes)
{
	struct ledger *ledger = context;
	struct ledger_site *one = touch(ledger, site);

	if (block >= ledger->blocks_room) {
		ledger->blocks_room = 2 * block + 256;
		ledger->blocks = must(
			realloc(ledger->blocks, ledger->blocks_room * sizeof(*ledger->blocks)));
	}
	ledger->blocks[block].birth = ledger->step;
	one->version.allocs++;
	one->version.alloc_bytes += bytes;
	one->version.live_bytes += bytes;
	one->version.live_blocks++;
	one->born++;
	one->born_bytes += bytes;
	ledger->allocated += bytes;
	note_level(ledger);
}

static void hold_back(struct ledger *ledger, uint32_t site, uint32_t birth, uint64_t bytes)
{
	if (ledger->deaths_count == ledger->deaths_room) {
		ledger->deaths_room = 2 * ledger->deaths_room + 64;
		ledger->deaths = must(
			realloc(ledger->deaths, ledger->deaths_room * sizeof(*ledger->deaths)));
	}
	ledger->deaths[ledger->deaths_count++] =
		(struct ledger_death){.site = site, .birth = birth, .bytes = bytes};
}

static void on_free(void *context, uint32_t site, uint32_t block, uint64_t bytes)
{
	struct ledger *ledger = context;
	struct ledger_site *one = touch(ledger, site);
	uint32_t birth = ledger->blocks[block].birth;

	one->version.frees++;
	one->version.live_bytes -= bytes;
	one->version.live_blocks--;
	ledger->allocated -= bytes;
	note_level(ledger);
	if (birth < ledger->step) {
		hold_back(ledger, site, birth, bytes);
		return;
	}
	one->born--;
	one->born_bytes -= bytes;
	one->temporary++;
}

static void commit_deaths(struct ledger *ledger)
{
	for (uint32_t i = 0; i < ledger->deaths_count; i++) {
		const struct ledger_death *death = &ledger->deaths[i];
		struct ledger_site *one = &ledger->sites[death->site];
		uint32_t age = ledger->step - death->birth;

		evidence_died(one->evidence, death->birth, ledger->step, death->bytes);
		if (age > one->version.max_age)
			one->version.max_age = age;
	}
	ledger->deaths_count = 0;
}

/* A site that never held anything across a mark has had only temporaries so far. */
static void promote(struct ledger_site *one)
{
	if (one->evidence || one->version.live_blocks == 0)
		return;
	one->evidence = must(malloc(sizeof(*one->evidence)));
	evidence_init(one->evidence);
	evidence_temporary(one->evidence, (uint32_t)(one->version.frees - one->temporary));
	one->version.evidence = 1;
}

static void commit_site(struct ledger *ledger, struct ledger_site *one)
{
	struct evidence_level before = {.bytes = one->told_bytes, .blocks = one->told_blocks};
	struct evidence_level after = {.bytes = one->version.live_bytes,
				       .blocks = one->version.live_blocks};

	promote(one);
	one->touched = false;
	if (one->evidence) {
		if (one->born)
			evidence_born(one->evidence, ledger->step, one->born, one->born_bytes);
		evidence_temporary(one->evidence, one->temporary);
		if (before.bytes != after.bytes || before.blocks != after.blocks)
			evidence_level(one->evidence, ledger->step, before, after);
		teeth_mark(&one->teeth, ledger->step, after.blocks);
		one->version.rounds += one->born > 0;
	}
	one->told_bytes = after.bytes;
	one->told_blocks = after.blocks;
	one->born = one->temporary = 0;
	one->born_bytes = 0;
}

static void thin_timeline(struct ledger *ledger)
{
	for (uint32_t i = 0; i + 1 < LEDGER_TIMELINE; i += 2) {
		struct gpuleak_timeline_entry one = ledger->timeline[i];
		const struct gpuleak_timeline_entry *next = &ledger->timeline[i + 1];

		one.last_step = next->last_step;
		one.when = next->when;
		one.allocated = next->allocated;
		one.reserved = next->reserved;
		one.peak = one.peak > next->peak ? one.peak : next->peak;
		one.trough = one.trough < next->trough ? one.trough : next->trough;
		ledger->timeline[i / 2] = one;
	}
	ledger->timeline_count /= 2;
	ledger->timeline_shift++;
}

static void add_to_timeline(struct ledger *ledger, uint64_t reserved)
{
	struct gpuleak_timeline_entry *open = &ledger->open;

	if (open->first_step == 0)
		*open = (struct gpuleak_timeline_entry){.first_step = ledger->step,
							.trough = UINT64_MAX};
	open->last_step = ledger->step;
	open->when = (uint64_t)ledger->step * 100000000;
	open->allocated = ledger->allocated;
	open->reserved = reserved;
	if (ledger->step_peak > open->peak)
		open->peak = ledger->step_peak;
	if (ledger->step_trough < open->trough)
		open->trough = ledger->step_trough;
	if (open->last_step - open->first_step + 1 < 1u << ledger->timeline_shift)
		return;
	ledger->timeline[ledger->timeline_count++] = *open;
	open->first_step = 0;
	if (ledger->timeline_count == LEDGER_TIMELINE)
		thin_timeline(ledger);
}

static void commit(struct ledger *ledger, uint64_t reserved)
{
	commit_deaths(ledger);
	for (uint32_t i = 0; i < ledger->touched_count; i++)
		commit_site(ledger, &ledger->sites[ledger->touched[i]]);
	ledger->touched_count = 0;
	if (ledger->step)
		add_to_timeline(ledger, reserved);
	ledger->mark = ledger->step++;
	ledger->step_peak = ledger->step_trough = ledger->allocated;
}

static void on_half(void *context)
{
	struct ledger *ledger = context;

	if (ledger->marks_per_step == 2 && ledger->step)
		commit(ledger, ledger->reserved);
}

static void on_mark(void *context, uint32_t step, uint64_t reserved)
{
	struct ledger *ledger = context;

	if (ledger->marks_per_step == 0 && step % 2)
		return;
	commit(ledger, reserved);
	ledger->reserved = reserved;
	for (uint32_t i = 0; i < LEDGER_CUTS; i++)
		if (step && ledger->cuts[i] == step && ledger->at_cut)
			ledger->at_cut(ledger->cut_context, ledger);
}

struct sink ledger_sink(struct ledger *ledger)
{
	return (struct sink){.context = ledger,
			     .alloc = on_alloc,
			     .free = on_free,
			     .half = on_half,
			     .mark = on_mark};
}

void ledger_judge(const struct ledger *ledger, struct verdict_site *sites,
		  struct verdict_device *device)
{
	static struct gpuleak_timeline_entry entries[LEDGER_TIMELINE + 1];
	struct verdict_timeline timeline;
	struct verdict_device_input input = {.now = ledger->mark,
					     .peak = ledger->peak,
					     .timeline = &timeline,
					     .sites = sites,
					     .site_count = WORLD_SITES};
	uint32_t count = ledger->timeline_count;

	memcpy(entries, ledger->timeline, count * sizeof(entries[0]));
	if (ledger->open.first_step)
		entries[count++] = ledger->open;
	verdict_timeline(&timeline, entries, count);
	for (uint32_t i = 0; i < WORLD_SITES; i++) {
		struct verdict_site_input one = {.now = ledger->mark,
						 .version = &ledger->sites[i].version,
						 .evidence = ledger->sites[i].evidence,
						 .teeth = &ledger->sites[i].teeth,
						 .timeline = &timeline};

		verdict_site(&sites[i], &one);
	}
	verdict_device(device, &input);
}
