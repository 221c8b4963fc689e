#include "build_trace.h"

#include <stdatomic.h>
#include <string.h>

#include "build_parts.h"
#include "trace/layout.h"
#include "tracer/teeth.h"

static uint64_t chance(struct build *build)
{
	build->random = build->random * 6364136223846793005ull + 1442695040888963407ull;
	return build->random >> 33;
}

/* The device's item. */
static uint32_t device_of(struct build *build, uint32_t site)
{
	const struct gpuleak_device *devices = build_section(build, GPULEAK_SECTION_DEVICES);
	const struct gpuleak_site *sites = build_section(build, GPULEAK_SECTION_SITES);

	for (uint32_t i = 0; i < build->state->devices; i++)
		if (devices[i].device == sites[site].device)
			return i;
	build_need(false, "site without a device");
	return 0;
}

static void note_event(struct build *build, uint32_t site, uint64_t address, int64_t size)
{
	struct gpuleak_ring_page *pages = build_section(build, GPULEAK_SECTION_RING);
	uint64_t count = build_items(build, GPULEAK_SECTION_RING);
	uint64_t sequence = build->events / GPULEAK_RING_EVENTS;
	struct gpuleak_ring_page *page = &pages[sequence % count];
	uint64_t kind = size < 0 ? GPULEAK_EVENT_FREE : GPULEAK_EVENT_ALLOC;

	if (page->sequence != sequence + 1) {
		memset(page, 0, sizeof(*page));
		page->sequence = sequence + 1;
		build->state->ring_claimed = sequence + 1;
	}
	page->events[build->events++ % GPULEAK_RING_EVENTS] = (struct gpuleak_event){
		.address = address,
		.size = size,
		.when = kind << 56 | (build->step * build->step_ns / 100),
		.site = site,
		.step = build->step,
	};
}

static void note_total(struct build *build, uint32_t site, int64_t size)
{
	uint32_t device = device_of(build, site);
	uint64_t total = build->allocated[device] + (uint64_t)size;

	build->allocated[device] = total;
	if (total > build->peak_in_step[device])
		build->peak_in_step[device] = total;
	if (total < build->trough_in_step[device])
		build->trough_in_step[device] = total;
	if (total > build->reserved[device])
		build->reserved[device] = (total + (20u << 20) - 1) / (20u << 20) * (20u << 20);
}

static void block_free(struct build *build, uint32_t i)
{
	struct build_block block = build->blocks[i];
	struct build_site *site = &build->sites[block.site];
	uint32_t age = build->step - block.birth;
	uint32_t class = age ? 32 - (uint32_t)__builtin_clz(age) : 0;

	build->blocks[i] = build->blocks[--build->block_count];
	site->touched = true;
	site->now.frees++;
	site->now.live_blocks--;
	site->now.live_bytes -= block.bytes;
	site->now.last_step = build->step;
	site->now.max_age = age > site->now.max_age ? age : site->now.max_age;
	site->deaths[class < GPULEAK_DEATHS ? class : GPULEAK_DEATHS - 1]++;
	site->born_blocks[block.birth]--;
	site->born_bytes[block.birth] -= block.bytes;
	note_total(build, block.site, -(int64_t)block.bytes);
	note_event(build, block.site, block.address, -(int64_t)block.bytes);
}

static void block_allocate(struct build *build, uint32_t item, uint64_t bytes)
{
	struct build_site *site = &build->sites[item];
	struct build_block *block;

	build_need(build->block_count < BUILD_BLOCKS_MAX, "blocks");
	block = &build->blocks[build->block_count++];
	bytes = (bytes + 511) / 512 * 512;
	*block = (struct build_block){item, build->step, bytes, build->next_address};
	build->next_address += bytes;
	if (!site->now.allocs)
		site->now.first_step = build->step;
	site->touched = true;
	site->now.allocs++;
	site->now.alloc_bytes += bytes;
	site->now.live_blocks++;
	site->now.live_bytes += bytes;
	site->now.last_step = build->step;
	site->born_blocks[build->step]++;
	site->born_bytes[build->step] += bytes;
	note_total(build, item, (int64_t)bytes);
	note_event(build, item, block->address, (int64_t)bytes);
}

static bool pattern_due(const struct build_pattern *pattern, uint32_t step)
{
	if (step < pattern->from || (pattern->until && step > pattern->until))
		return false;
	if (!pattern->every)
		return step == pattern->from;
	return (step - pattern->from) % pattern->every == 0;
}

static void site_allocate(struct build *build, uint32_t item)
{
	struct build_site *site = &build->sites[item];
	const struct build_pattern *pattern = &site->pattern;

	if (!pattern_due(pattern, build->step))
		return;
	for (uint32_t i = 0; i < pattern->blocks; i++)
		block_allocate(build, item,
			       pattern->bytes + site->times * pattern->grows +
				       (pattern->noise ? chance(build) % pattern->noise : 0));
	site->times++;
}

static bool block_due(const struct build *build, const struct build_block *block, bool at_end)
{
	const struct build_pattern *pattern = &build->sites[block->site].pattern;

	if (pattern->flush)
		return !at_end && build->step % pattern->flush == 0;
	if (pattern->age == BUILD_KEPT)
		return false;
	return at_end ? !pattern->age : build->step - block->birth >= pattern->age && pattern->age;
}

static void free_due(struct build *build, bool at_end)
{
	for (uint32_t i = 0; i < build->block_count;) {
		if (block_due(build, &build->blocks[i], at_end))
			block_free(build, i);
		else
			i++;
	}
}

static void do_step(struct build *build)
{
	for (uint32_t i = 0; i < GPULEAK_DEVICES_MAX; i++)
		build->peak_in_step[i] = build->trough_in_step[i] = build->allocated[i];
	free_due(build, false);
	for (uint32_t i = 0; i < build->state->sites_used; i++)
		site_allocate(build, i);
	/* The site's bytes at a new peak are taken before temporary blocks go. */
	for (uint32_t i = 0; i < build->state->devices; i++) {
		struct gpuleak_device_version *now = &build->device_now[i];

		if (build->peak_in_step[i] <= now->peak)
			continue;
		now->peak = build->peak_in_step[i];
		now->peak_epoch++;
		now->peak_step = build->step;
		for (uint32_t s = 0; s < build->state->sites_used; s++) {
			if (device_of(build, s) != i)
				continue;
			build->sites[s].now.peak_bytes = build->sites[s].now.live_bytes;
			build->sites[s].now.peak_epoch = now->peak_epoch;
			build->sites[s].touched |= build->sites[s].now.allocs != 0;
		}
	}
	free_due(build, true);
}

/* False when they don't fit at this resolution. */
static bool births_fit(const struct build *build, const struct build_site *site,
		       struct gpuleak_evidence_version *version)
{
	struct gpuleak_birth *last = NULL;

	version->birth_count = 0;
	for (uint32_t step = 0; step <= build->step; step++) {
		uint32_t bucket = step >> version->birth_shift;

		if (!site->born_blocks[step])
			continue;
		if (!last || last->bucket != bucket) {
			if (version->birth_count == GPULEAK_BIRTHS)
				return false;
			last = &version->births[version->birth_count++];
			*last = (struct gpuleak_birth){.bucket = bucket};
		}
		last->count += site->born_blocks[step];
		last->bytes += site->born_bytes[step];
	}
	return true;
}

static void write_births(const struct build *build, const struct build_site *site,
			 struct gpuleak_evidence_version *version)
{
	while (!births_fit(build, site, version))
		version->birth_shift++;
}

static void write_levels(const struct build *build, const struct build_site *site,
			 struct gpuleak_evidence_version *version)
{
	while (build->step >> version->level_shift >= GPULEAK_LEVELS)
		version->level_shift++;
	version->level_count = (build->step >> version->level_shift) + 1;
	for (uint32_t step = 0; step <= build->step; step++) {
		struct gpuleak_level *level = &version->levels[step >> version->level_shift];
		uint64_t bytes = site->level_bytes[step];
		uint32_t blocks = site->level_blocks[step];
		bool first = (step & ((1u << version->level_shift) - 1)) == 0;

		if (first || bytes < level->min_bytes)
			level->min_bytes = bytes;
		if (first || bytes > level->max_bytes)
			level->max_bytes = bytes;
		if (first || blocks < level->min_blocks)
			level->min_blocks = blocks;
		if (first || blocks > level->max_blocks)
			level->max_blocks = blocks;
	}
}

/* All that was freed after its step was freed by Python's collector, where the pattern flushes. */
static void write_teeth(const struct build *build, const struct build_site *site,
			struct gpuleak_teeth *teeth)
{
	*teeth = (struct gpuleak_teeth){0};
	for (uint32_t step = 0; step <= build->step; step++)
		teeth_mark(teeth, step, site->level_blocks[step]);
	for (uint32_t i = 1; site->pattern.flush && i < GPULEAK_DEATHS; i++)
		teeth->collected += site->deaths[i];
}

static void write_evidence(struct build *build, uint32_t item)
{
	struct gpuleak_evidence *all = build_section(build, GPULEAK_SECTION_EVIDENCE);
	struct build_site *site = &build->sites[item];
	struct gpuleak_evidence *evidence;
	struct gpuleak_evidence_version *version;

	if (!site->now.evidence && !site->now.live_blocks)
		return;
	if (!site->now.evidence) {
		build_need(build->state->evidence_used <
				   build_items(build, GPULEAK_SECTION_EVIDENCE),
			   "evidence");
		all[build->state->evidence_used].site = item;
		site->now.evidence = (uint32_t)++build->state->evidence_used;
	}
	evidence = &all[site->now.evidence - 1];
	version = &evidence->versions[evidence->versions[0].mark > evidence->versions[1].mark];
	version->mark = build->step;
	atomic_thread_fence(memory_order_release);
	memset((uint8_t *)version + sizeof(version->mark), 0,
	       sizeof(*version) - sizeof(version->mark));
	write_births(build, site, version);
	write_levels(build, site, version);
	memcpy(version->deaths, site->deaths, sizeof(version->deaths));
	write_teeth(build, site, &evidence->teeth[version - evidence->versions]);
}

static void write_site(struct build *build, uint32_t item)
{
	struct gpuleak_site *sites = build_section(build, GPULEAK_SECTION_SITES);
	struct build_site *site = &build->sites[item];
	struct gpuleak_site_version *version;

	site->level_bytes[build->step] = site->now.live_bytes;
	site->level_blocks[build->step] = site->now.live_blocks;
	if (!site->touched)
		return;
	site->touched = false;
	site->now.rounds += site->born_blocks[build->step] != 0;
	write_evidence(build, item);
	version =
		&sites[item].versions[sites[item].versions[0].mark > sites[item].versions[1].mark];
	site->now.mark = build->step;
	version->mark = build->step;
	atomic_thread_fence(memory_order_release);
	*version = site->now;
}

/* The timeline is full: pairs of entries go into the other half. */
static void timeline_thin(struct build *build, uint32_t item, uint64_t half)
{
	struct gpuleak_timeline_entry *share = build_section(build, GPULEAK_SECTION_TIMELINE);
	struct gpuleak_device_version *now = &build->device_now[item];
	struct gpuleak_timeline_entry *from, *to;

	share += half * 2 * item;
	from = share + (now->timeline_half ? half : 0);
	to = share + (now->timeline_half ? 0 : half);
	for (uint32_t i = 0; i < now->timeline_count / 2; i++) {
		to[i] = from[2 * i + 1];
		to[i].first_step = from[2 * i].first_step;
		to[i].peak = from[2 * i].peak > to[i].peak ? from[2 * i].peak : to[i].peak;
		if (from[2 * i].trough < to[i].trough)
			to[i].trough = from[2 * i].trough;
	}
	now->timeline_half = !now->timeline_half;
	now->timeline_count /= 2;
	now->timeline_shift++;
}

static void write_timeline(struct build *build, uint32_t item)
{
	struct gpuleak_timeline_entry *share = build_section(build, GPULEAK_SECTION_TIMELINE);
	uint64_t half = build_items(build, GPULEAK_SECTION_TIMELINE) / GPULEAK_DEVICES_MAX / 2;
	struct gpuleak_device_version *now = &build->device_now[item];
	struct gpuleak_timeline_entry *open = &now->open;

	if (!open->first_step)
		*open = (struct gpuleak_timeline_entry){
			.first_step = build->step,
			.trough = UINT64_MAX,
		};
	open->last_step = build->step;
	open->when = build->step * build->step_ns;
	open->allocated = build->allocated[item];
	open->reserved = build->reserved[item];
	if (build->peak_in_step[item] > open->peak)
		open->peak = build->peak_in_step[item];
	if (build->trough_in_step[item] < open->trough)
		open->trough = build->trough_in_step[item];
	if (open->last_step - open->first_step + 1 < 1u << now->timeline_shift)
		return;
	if (now->timeline_count == half)
		timeline_thin(build, item, half);
	if (open->last_step - open->first_step + 1 < 1u << now->timeline_shift)
		return;
	share += half * 2 * item + (now->timeline_half ? half : 0);
	share[now->timeline_count++] = *open;
	open->first_step = 0;
}

static void write_device(struct build *build, uint32_t item)
{
	struct gpuleak_device *devices = build_section(build, GPULEAK_SECTION_DEVICES);
	struct gpuleak_device_version *now = &build->device_now[item];
	struct gpuleak_device_version *version;

	write_timeline(build, item);
	now->mark = build->step;
	now->allocated = build->allocated[item];
	now->reserved = build->reserved[item];
	now->peak_reserved = build->reserved[item];
	if (build->step == 1) {
		now->first_allocated = now->allocated;
		now->first_reserved = now->reserved;
	}
	now->allocs = build->events;
	version =
		&devices[item]
			 .versions[devices[item].versions[0].mark > devices[item].versions[1].mark];
	version->mark = build->step;
	atomic_thread_fence(memory_order_release);
	*version = *now;
}

static void write_mark(struct build *build)
{
	struct gpuleak_state *state = build->state;

	__atomic_store_n(&state->begun, build->step, __ATOMIC_RELAXED);
	atomic_thread_fence(memory_order_release);
	for (uint32_t i = 0; i < state->sites_used; i++)
		write_site(build, i);
	for (uint32_t i = 0; i < state->devices; i++)
		write_device(build, i);
	state->marks[build->step & 1] = (struct gpuleak_mark_version){
		.mark = build->step,
		.when = build->step * build->step_ns,
		.events = build->events,
		.parameters_count = state->marks[(build->step & 1) ^ 1].parameters_count,
		.parameters_bytes = state->marks[(build->step & 1) ^ 1].parameters_bytes,
	};
}

void build_half_step(struct build *build)
{
	if (!build->step) {
		do_step(build); /* the baseline */
		for (uint32_t i = 0; i < build->state->sites_used; i++) {
			build->sites[i].level_bytes[0] = build->sites[i].now.live_bytes;
			build->sites[i].level_blocks[0] = build->sites[i].now.live_blocks;
		}
	}
	build_need(++build->step < BUILD_STEPS_MAX, "steps");
	do_step(build);
	write_mark(build);
}

void build_step(struct build *build)
{
	build_half_step(build);
	atomic_thread_fence(memory_order_release);
	__atomic_store_n(&build->state->committed, build->step, __ATOMIC_RELAXED);
}

void build_steps(struct build *build, uint32_t count)
{
	while (count--)
		build_step(build);
}

static void build_note(struct build *build, const struct gpuleak_note *note)
{
	struct gpuleak_note *notes = build_section(build, GPULEAK_SECTION_NOTES);

	build_need(build->state->notes_used < build_items(build, GPULEAK_SECTION_NOTES), "notes");
	notes[build->state->notes_used] = *note;
	notes[build->state->notes_used].step = build->step + 1;
	notes[build->state->notes_used].when = build->step * build->step_ns + 1000;
	build->state->notes_used++;
}

void build_note_oom(struct build *build, uint32_t device, uint64_t size, uint32_t stack)
{
	build_note(build, &(struct gpuleak_note){
				  .kind = GPULEAK_NOTE_OOM,
				  .device = device,
				  .stack = stack,
				  .size = size,
				  .allocated = build->allocated[0],
				  .held = build->reserved[0],
			  });
}

void build_note_optimizers_off(struct build *build, const char *why)
{
	build_note(build, &(struct gpuleak_note){
				  .kind = GPULEAK_NOTE_OPTIMIZERS_OFF,
				  .text = build_string(build, why),
			  });
}

void build_finish(struct build *build)
{
	build->state->finished = build->step * build->step_ns + 400000000;
	build->state->status = GPULEAK_STATUS_FINISHED;
}
