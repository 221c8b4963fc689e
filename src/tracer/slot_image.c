#include "tracer/slot_image.h"

#include <string.h>

#include "trace/sound.h"
#include "tracer/mark.h"
#include "tracer/memory.h"
#include "tracer/trace_writer.h"

#include "tracer/banned.h"

enum {
	TRIES = 3,	/* of a copy between two marks, before marks are held off */
	EVENT_BITS = 7, /* GPULEAK_RING_EVENTS fits */
	KIND_SHIFT = 56
};

bool slot_image_open(struct slot_image *image)
{
	image->size = (uint64_t)((const uint8_t *)trace.ring - trace.file.bytes);
	image->bytes = memory_take_sparse(image->size);
	return image->bytes != NULL;
}

static void copy(struct slot_image *image, const void *from, uint64_t size)
{
	uint64_t offset = (uint64_t)((const uint8_t *)from - trace.file.bytes);

	memcpy(image->bytes + offset, from, size);
	image->ranges[image->count++] = (struct slot_range){offset, size};
}

/* The version that counts at `mark`, or NULL. */
static const struct gpuleak_device_version *version_at(const struct gpuleak_device *device,
						       uint64_t mark)
{
	const struct gpuleak_device_version *best = NULL;

	for (unsigned i = 0; i < 2; i++) {
		const struct gpuleak_device_version *version = &device->versions[i];

		if (version->mark && version->mark <= mark && (!best || version->mark > best->mark))
			best = version;
	}
	return best;
}

static void copy_timeline(struct slot_image *image, uint32_t device, uint64_t mark)
{
	const struct gpuleak_device_version *at = version_at(&trace.devices[device], mark);
	uint64_t count = at ? at->timeline_count : 0;
	uint64_t half = at ? at->timeline_half : 0;

	if (count && count <= trace.timeline_share && half < 2)
		copy(image, trace.timeline + (2ull * device + half) * trace.timeline_share,
		     count * sizeof(*trace.timeline));
}

/* What of a section is in use, in bytes; 0: it is not copied here. */
static uint64_t used_bytes(const struct gpuleak_section *section, const struct gpuleak_state *state)
{
	uint64_t items = section->size / section->item_size;

	switch (section->kind) {
	case GPULEAK_SECTION_SITES:
		items = state->sites_used;
		break;
	case GPULEAK_SECTION_EVIDENCE:
		items = state->evidence_used;
		break;
	case GPULEAK_SECTION_NOTES:
		items = state->notes_used;
		break;
	case GPULEAK_SECTION_DEVICES:
		items = state->devices;
		break;
	case GPULEAK_SECTION_STATE:
	case GPULEAK_SECTION_STRINGS:
	case GPULEAK_SECTION_FRAMES:
	case GPULEAK_SECTION_STACKS:
	case GPULEAK_SECTION_TIMELINE:
	case GPULEAK_SECTION_RING:
		return 0;
	default: /* all of a small one */
		break;
	}
	return items * section->item_size;
}

/* What marks change, and what refers to names: before the names themselves. */
static void copy_records(struct slot_image *image, const struct gpuleak_state *state)
{
	const struct gpuleak_file_header *header = (const void *)trace.file.bytes;

	copy(image, header, sizeof(*header));
	for (uint32_t i = 0; i < header->section_count; i++) {
		const struct gpuleak_section *section = &header->sections[i];
		uint64_t size = used_bytes(section, state);

		if (size)
			copy(image, trace.file.bytes + section->offset, size);
	}
	for (uint32_t i = 0; i < state->devices; i++)
		copy_timeline(image, i, state->committed);
}

static void copy_names(struct slot_image *image, const struct gpuleak_state *state)
{
	copy(image, trace.strings, state->strings_used);
	copy(image, trace.frames, state->frames_used * sizeof(*trace.frames));
	copy(image, trace.stacks, state->stacks_used * sizeof(*trace.stacks));
}

/* The state as it was at the mark, as if none were under way. */
static void put_state(struct slot_image *image, const struct gpuleak_state *records,
		      const struct gpuleak_state *names)
{
	struct gpuleak_state state = *records;

	state.begun = state.committed;
	state.strings_used = names->strings_used;
	state.frames_used = names->frames_used;
	state.stacks_used = names->stacks_used;
	state.status = names->status;
	state.finished = names->finished;
	state.gave_up_why = names->gave_up_why;
	copy(image, trace.state, sizeof(state));
	memcpy(image->bytes + image->ranges[image->count - 1].offset, &state, sizeof(state));
}

static bool copy_once(struct slot_image *image)
{
	const struct gpuleak_mark_version *at;
	struct gpuleak_state records, names;

	image->count = 0;
	image->mark = __atomic_load_n(&trace.state->committed, __ATOMIC_ACQUIRE);
	records = *trace.state;
	records.committed = image->mark;
	copy_records(image, &records);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	names = *trace.state;
	copy_names(image, &names);
	put_state(image, &records, &names);
	at = image->mark ? sound_mark(&records, image->mark) : NULL;
	image->when = at ? at->when : 0;
	return (at || !image->mark) && sound_copy(&records, &names, image->mark);
}

void slot_image_take(struct slot_image *image)
{
	for (unsigned i = 0; i < TRIES; i++)
		if (copy_once(image))
			return;
	mark_hold_off();
	copy_once(image);
	mark_go_on();
}

static uint64_t tag(uint64_t sequence, uint64_t events)
{
	return sequence << EVENT_BITS | events;
}

uint64_t slot_image_full_page(uint64_t number)
{
	return tag(__atomic_load_n(&trace.ring[number].sequence, __ATOMIC_RELAXED),
		   GPULEAK_RING_EVENTS);
}

uint64_t slot_image_ring_page(uint64_t number, struct gpuleak_ring_page *copied)
{
	const struct gpuleak_ring_page *page = &trace.ring[number];
	uint64_t sequence = __atomic_load_n(&page->sequence, __ATOMIC_ACQUIRE);
	unsigned events = 0;

	/* Written in order, its kind last: the first without a kind ends them. */
	while (events < GPULEAK_RING_EVENTS &&
	       __atomic_load_n(&page->events[events].when, __ATOMIC_ACQUIRE) >> KIND_SHIFT)
		events++;
	memcpy(copied, page, sizeof(*copied));
	memset(copied->events + events, 0,
	       (GPULEAK_RING_EVENTS - events) * sizeof(copied->events[0]));
	copied->sequence = sequence;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(&page->sequence, __ATOMIC_RELAXED) != sequence)
		return 0; /* claimed anew meanwhile */
	return sequence ? tag(sequence, events) : 0;
}
