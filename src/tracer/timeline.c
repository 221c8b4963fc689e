#include "tracer/timeline.h"

#include "tracer/trace_writer.h"

#include "tracer/banned.h"

static struct gpuleak_timeline_entry *half_of(uint32_t device, uint32_t half)
{
	return trace.timeline + (2 * (uint64_t)device + half) * trace.timeline_share;
}

/* Neighbours become one: the later one's marks, the highest peak, the lowest trough. */
static void join(struct gpuleak_timeline_entry *earlier, const struct gpuleak_timeline_entry *later)
{
	earlier->last_step = later->last_step;
	earlier->when = later->when;
	earlier->allocated = later->allocated;
	earlier->reserved = later->reserved;
	if (later->peak > earlier->peak)
		earlier->peak = later->peak;
	if (later->trough < earlier->trough)
		earlier->trough = later->trough;
}

static void thin(struct gpuleak_device_version *place, uint32_t device)
{
	const struct gpuleak_timeline_entry *from = half_of(device, place->timeline_half);
	struct gpuleak_timeline_entry *into = half_of(device, !place->timeline_half);
	uint32_t pairs = place->timeline_count / 2;

	for (size_t i = 0; i < pairs; i++) {
		into[i] = from[2 * i];
		join(&into[i], &from[2 * i + 1]);
	}
	place->timeline_half = !place->timeline_half;
	place->timeline_count = pairs;
	place->timeline_shift++;
}

void timeline_add(struct gpuleak_device_version *place, uint32_t device,
		  const struct gpuleak_timeline_entry *entry)
{
	/* An even number, so that thinning leaves nothing over. */
	uint64_t room = trace.timeline_share & ~1ull;
	uint32_t steps;

	if (!room)
		return;
	if (place->open.first_step)
		join(&place->open, entry);
	else
		place->open = *entry;
	steps = place->open.last_step - place->open.first_step + 1;
	if (steps < 1u << place->timeline_shift)
		return;
	half_of(device, place->timeline_half)[place->timeline_count++] = place->open;
	place->open = (struct gpuleak_timeline_entry){0};
	if (place->timeline_count == room)
		thin(place, device);
}
