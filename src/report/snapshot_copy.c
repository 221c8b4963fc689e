#include "report/snapshot_copy.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "report/items.h"
#include "report/memory.h"

/* Later on each site that holds memory takes a verdict, a place and a group as well. */
enum {
	SITE_COST = 900 /* bytes */
};

/*
 * Which of two versions is the newest that counts at mark `now`: 0, 1, or -1 for
 * none.  Where both are newer the writer was too fast for us, or a mark is
 * damaged: the older one is nearest.  Where there is no mark, none counts: they are what a
 * count that was begun anew has left behind.
 */
static int version_at(uint64_t first, uint64_t second, uint64_t now)
{
	bool first_counts = first && first <= now;
	bool second_counts = second && second <= now;

	if (first_counts && second_counts)
		return second > first;
	if (first_counts || second_counts)
		return second_counts;
	if (!first || !second || !now)
		return -1;
	return second < first;
}

/* How many of `used` items can be read; what is missing is counted as lost. */
static uint64_t items_there(struct snapshot *snapshot, const struct trace_section *section,
			    uint64_t used, uint64_t cost, struct budget *budget)
{
	uint64_t there = used;

	if (used > section->items) { /* more than there is room for: the count is damaged */
		snapshot->damaged++;
		there = section->items;
	}
	if (there > section->present) {
		snapshot->lost += there - section->present;
		there = section->present;
	}
	if (there > budget->left / cost)
		budget->spent = true;
	if (budget->spent) /* there will be no report: no need to read on */
		there = 0;
	budget->left -= there * cost;
	return there;
}

/* There are few of them: room for them is made as they come. */
static struct snapshot_site *fresh_site(struct snapshot *snapshot)
{
	size_t count = snapshot->fresh_count;

	if ((count & (count - 1)) == 0)
		snapshot->fresh = memory_grow(snapshot->fresh, count ? 2 * count : 1,
					      sizeof(*snapshot->fresh));
	snapshot->fresh_count++;
	return &snapshot->fresh[count];
}

/*
 * The older of two versions is of the mark before the last step that changed the site, so their
 * difference is what that step allocated.
 */
static double site_growth(const struct gpuleak_site_version *before,
			  const struct gpuleak_site_version *at, uint64_t now)
{
	uint64_t allocs, bytes;

	if (at->mark != now || !before->mark || before->mark >= at->mark ||
	    before->allocs >= at->allocs || before->alloc_bytes > at->alloc_bytes)
		return 0;
	allocs = at->allocs - before->allocs;
	bytes = at->alloc_bytes - before->alloc_bytes;
	return (double)bytes / (double)allocs * (double)at->allocs /
	       fmax((double)at->alloc_bytes, 1);
}

static void site_take(struct snapshot *snapshot, const struct gpuleak_site *from, uint32_t item)
{
	int version = version_at(from->versions[0].mark, from->versions[1].mark, snapshot->steps);
	struct snapshot_site *site;

	if (version < 0)
		site = fresh_site(snapshot);
	else
		site = &snapshot->sites[snapshot->site_count++];
	*site = (struct snapshot_site){
		.key = from->key,
		.item = item,
		.stack = from->stack,
		.device = from->device,
		.source = from->source,
		.flags = from->flags,
	};
	if (version < 0)
		return;
	site->at = from->versions[version];
	site->growth = site_growth(&from->versions[!version], &site->at, snapshot->steps);
}

void copy_sites(struct snapshot *snapshot, const struct trace_file *file, struct budget *budget)
{
	struct trace_section section;
	struct gpuleak_site site;
	struct items items;
	uint64_t count, lost_before;

	lost_before = snapshot->lost;
	if (!trace_file_section(file, GPULEAK_SECTION_SITES, sizeof(site), &section))
		snapshot->lost += snapshot->state.sites_used;
	count = items_there(snapshot, &section, section.items ? snapshot->state.sites_used : 0,
			    SITE_COST, budget);
	snapshot->sites = memory_new(count, sizeof(*snapshot->sites));
	items_init(&items, file, &section, 0, count);
	while (items_take(&items, &site, sizeof(site)))
		site_take(snapshot, &site, (uint32_t)(items.next - 1));
	snapshot->lost += count - items.next;
	snapshot->blind += snapshot->lost - lost_before;
	items_release(&items);
}

static void evidence_take(struct snapshot *snapshot, const struct gpuleak_evidence *from,
			  uint64_t item)
{
	const struct gpuleak_evidence_version *version;
	int which = version_at(from->versions[0].mark, from->versions[1].mark, snapshot->steps);

	if (which < 0)
		return;
	version = &from->versions[which];
	if (version->birth_count > GPULEAK_BIRTHS || version->level_count > GPULEAK_LEVELS ||
	    version->birth_shift > 31 || version->level_shift > 31) {
		snapshot->damaged++;
		return;
	}
	snapshot->evidence[item] = *version;
	snapshot->teeth[item] = from->teeth[which];
	snapshot->evidence_site[item] = from->site;
}

void copy_evidence(struct snapshot *snapshot, const struct trace_file *file, struct budget *budget)
{
	const uint32_t least = offsetof(struct gpuleak_evidence, teeth); /* before 1.2 */
	struct gpuleak_evidence evidence = {0};
	struct trace_section section;
	struct items items;
	uint64_t count, lost_before;
	size_t size = sizeof(evidence);

	lost_before = snapshot->lost;
	if (!trace_file_section(file, GPULEAK_SECTION_EVIDENCE, least, &section))
		snapshot->lost += snapshot->state.evidence_used;
	if (section.item_size < size)
		size = least;
	count = items_there(
		snapshot, &section, section.items ? snapshot->state.evidence_used : 0,
		sizeof(*snapshot->evidence) + sizeof(*snapshot->teeth) + sizeof(uint32_t), budget);
	snapshot->evidence = memory_new(count, sizeof(*snapshot->evidence));
	snapshot->teeth = memory_new(count, sizeof(*snapshot->teeth));
	snapshot->evidence_site = memory_new(count, sizeof(*snapshot->evidence_site));
	snapshot->evidence_count = count;
	items_init(&items, file, &section, 0, count);
	while (items_take(&items, &evidence, size))
		evidence_take(snapshot, &evidence, items.next - 1);
	snapshot->lost += count - items.next;
	snapshot->blind += snapshot->lost - lost_before;
	items_release(&items);
}

/* The device's share of the timeline, from the half that its version names. */
static void timeline_take(struct snapshot *snapshot, struct snapshot_device *device,
			  const struct trace_file *file, struct budget *budget)
{
	struct trace_section section;
	struct items items;
	uint64_t half, first, count;

	trace_file_section(file, GPULEAK_SECTION_TIMELINE, sizeof(*device->timeline), &section);
	half = section.items / GPULEAK_DEVICES_MAX / 2;
	first = half * 2 * device->item + (device->at.timeline_half ? half : 0);
	count = device->at.timeline_count;
	if (device->at.timeline_half > 1 || count > half) {
		snapshot->damaged++;
		count = count > half ? half : count;
	}
	if (count > budget->left / sizeof(*device->timeline)) {
		count = 0;
		budget->spent = true;
	}
	budget->left -= count * sizeof(*device->timeline);
	device->timeline = memory_new(count + 1, sizeof(*device->timeline));
	items_init(&items, file, &section, first, first + count);
	while (items_take(&items, &device->timeline[device->timeline_count],
			  sizeof(*device->timeline)))
		device->timeline_count++;
	snapshot->lost += count - device->timeline_count;
	items_release(&items);
	if (device->at.open.first_step)
		device->timeline[device->timeline_count++] = device->at.open;
}

/* The device of a number; where that is damaged, the item that would have it. */
static uint16_t device_of(const struct snapshot *snapshot, uint16_t number)
{
	for (uint16_t i = 0; i < snapshot->device_count; i++)
		if (snapshot->devices[i].device == number)
			return i;
	for (uint16_t i = 0; i < snapshot->device_count; i++)
		if (snapshot->devices[i].item == number)
			return i;
	return SNAPSHOT_NO_DEVICE;
}

static void find_devices(struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->fresh_count; i++)
		snapshot->fresh[i].device = device_of(snapshot, snapshot->fresh[i].device);
	for (size_t i = 0; i < snapshot->site_count; i++) {
		struct snapshot_site *site = &snapshot->sites[i];

		site->device = device_of(snapshot, site->device);
		if (site->device == SNAPSHOT_NO_DEVICE)
			snapshot->damaged++;
	}
}

/* After the sites, whose devices it finds. */
void copy_devices(struct snapshot *snapshot, const struct trace_file *file, struct budget *budget)
{
	struct trace_section section;
	struct gpuleak_device from;
	struct items items;
	uint64_t used = snapshot->state.devices;

	if (!trace_file_section(file, GPULEAK_SECTION_DEVICES, sizeof(from), &section))
		snapshot->lost += used;
	if (used > GPULEAK_DEVICES_MAX)
		used = GPULEAK_DEVICES_MAX;
	used = items_there(snapshot, &section, section.items ? used : 0, sizeof(from), budget);
	items_init(&items, file, &section, 0, used);
	while (items_take(&items, &from, sizeof(from))) {
		struct snapshot_device *to = &snapshot->devices[snapshot->device_count];
		int version =
			version_at(from.versions[0].mark, from.versions[1].mark, snapshot->steps);

		if (version < 0 && snapshot->steps)
			continue; /* never used, or only after the mark */
		snapshot->device_count++;
		to->device = from.device;
		to->item = (uint32_t)(items.next - 1);
		to->name = from.name;
		to->uuid = from.uuid;
		to->capacity = from.capacity;
		if (version >= 0)
			to->at = from.versions[version];
		timeline_take(snapshot, to, file, budget);
	}
	items_release(&items);
	find_devices(snapshot);
}

/* Traces before 1.1 have none. */
void copy_host(struct snapshot *snapshot, const struct trace_file *file)
{
	struct trace_section section;
	struct gpuleak_host host;
	int version;

	if (!trace_file_section(file, GPULEAK_SECTION_HOST, sizeof(host), &section) ||
	    !section.present || !trace_file_read(file, section.offset, &host, sizeof(host)))
		return;
	version = version_at(host.versions[0].mark, host.versions[1].mark, snapshot->steps);
	if (version >= 0)
		snapshot->host = host.versions[version];
}

void copy_driver(struct snapshot *snapshot, const struct trace_file *file)
{
	struct trace_section section;
	struct gpuleak_driver driver;

	if (!trace_file_section(file, GPULEAK_SECTION_DRIVER, sizeof(driver), &section))
		return;
	for (size_t i = 0; i < snapshot->device_count; i++) {
		struct snapshot_device *device = &snapshot->devices[i];
		int version;

		if (device->item >= section.present ||
		    !trace_file_read(file,
				     section.offset + (uint64_t)device->item * section.item_size,
				     &driver, sizeof(driver)))
			continue;
		version = version_at(driver.versions[0].mark, driver.versions[1].mark,
				     snapshot->steps);
		if (version >= 0)
			device->driver = driver.versions[version];
	}
}

void copy_notes(struct snapshot *snapshot, const struct trace_file *file, struct budget *budget)
{
	struct trace_section section;
	struct items items;
	uint64_t count;

	trace_file_section(file, GPULEAK_SECTION_NOTES, sizeof(*snapshot->notes), &section);
	count = items_there(snapshot, &section, section.items ? snapshot->state.notes_used : 0,
			    sizeof(*snapshot->notes), budget);
	snapshot->notes = memory_new(count, sizeof(*snapshot->notes));
	items_init(&items, file, &section, 0, count);
	while (items_take(&items, &snapshot->notes[snapshot->note_count], sizeof(*snapshot->notes)))
		snapshot->note_count++;
	items_release(&items);
}

/* `used` small items in one piece, as they are in the file. */
static void *whole_section(struct snapshot *snapshot, const struct trace_file *file, uint32_t kind,
			   uint32_t item_size, uint64_t used, struct budget *budget, size_t *count)
{
	struct trace_section section;
	struct items items;
	uint8_t *copy;

	*count = 0;
	trace_file_section(file, kind, item_size, &section);
	used = items_there(snapshot, &section, used, item_size, budget);
	copy = memory_new(used, item_size);
	items_init(&items, file, &section, 0, used);
	while (*count < used && items_take(&items, copy + *count * item_size, item_size))
		++*count;
	items_release(&items);
	return copy;
}

void copy_names(struct snapshot *snapshot, const struct trace_file *file, struct budget *budget)
{
	const struct gpuleak_state *state = &snapshot->state;
	struct names *names = &snapshot->names;
	size_t words;

	names->stacks = whole_section(snapshot, file, GPULEAK_SECTION_STACKS, sizeof(uint32_t),
				      state->stacks_used, budget, &names->stack_words);
	names->frames =
		whole_section(snapshot, file, GPULEAK_SECTION_FRAMES, sizeof(*names->frames),
			      state->frames_used, budget, &names->frame_count);
	names->strings = whole_section(snapshot, file, GPULEAK_SECTION_STRINGS, sizeof(uint32_t),
				       state->strings_used / 4, budget, &words);
	names->strings_size = words * sizeof(uint32_t);
}
