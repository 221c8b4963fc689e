#include "report/oom.h"

#include <stdio.h>

static uint64_t leaked_bytes(const struct findings *device)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < device->count; i++) {
		const struct finding *finding = &device->items[i];

		if ((finding->label == VERDICT_LEAK || finding->label == VERDICT_GROWING) &&
		    finding->site->source == GPULEAK_SOURCE_TORCH &&
		    finding->bytes < UINT64_MAX - bytes)
			bytes += finding->bytes;
	}
	return bytes;
}

static double room_left(const struct oom *oom, const struct findings *device)
{
	double room = (double)device->device->capacity - (double)oom->note->held -
		      (double)device->device->at.outside;

	return room > 0 ? room : 0;
}

/*
 * PyTorch gives back whatever it can before it fails, so what is reserved and free is
 * in pieces of segments that are partly in use.
 */
static enum oom_cause cause_of(const struct oom *oom, const struct findings *device)
{
	double size = (double)oom->note->size;
	double cached = (double)oom->cached;
	double leaked = (double)oom->leaked;
	double room = room_left(oom, device);

	if (leaked > 0 && leaked >= cached && leaked + cached + room >= size)
		return OOM_LEAK;
	if (oom->piled_up && (double)oom->tail.bytes >= cached)
		return OOM_SIZE;
	if (cached + room >= size && cached >= room)
		return OOM_FRAGMENTATION;
	return room >= size ? OOM_OTHERS : OOM_SIZE;
}

/* Was anything allocated after it?  A program that caught the error goes on. */
static bool went_on(const struct snapshot *snapshot, const struct findings *device)
{
	for (size_t i = snapshot->open_count; i > 0; i--) {
		const struct snapshot_event *event = &snapshot->open[i - 1];

		if (event->device != device->device->device)
			continue;
		if (event->kind == GPULEAK_EVENT_OOM)
			return false;
		if (event->kind == GPULEAK_EVENT_ALLOC)
			return true;
	}
	return false;
}

bool oom_find(struct oom *oom, struct report *report, const struct findings *device)
{
	const struct snapshot *snapshot = &report->snapshot;
	struct stack stack;

	*oom = (struct oom){0};
	for (size_t i = 0; i < snapshot->note_count; i++) {
		if (snapshot->notes[i].kind != GPULEAK_NOTE_OOM ||
		    snapshot->notes[i].device != device->device->device)
			continue;
		oom->note = &snapshot->notes[i];
		oom->count++;
	}
	if (!oom->note)
		return false;
	/* By time, since steps may have been counted anew. */
	oom->open = !snapshot->steps || oom->note->when > snapshot->mark.when;
	oom->ended = oom->open && !went_on(snapshot, device);
	if (oom->note->held > oom->note->allocated)
		oom->cached = oom->note->held - oom->note->allocated;
	oom->leaked = leaked_bytes(device);
	oom->piled_up = oom->open && tail_find(&oom->tail, report, device);
	oom->cause = cause_of(oom, device);
	if (names_stack(&snapshot->names, oom->note->stack, &stack))
		place_of_stack(&oom->place, &report->code, &stack);
	if (!oom->place.python && !oom->place.called && device->backward) /* a thread of autograd */
		oom->place.where = device->backward;
	if (oom->open)
		composition_of_oom(&oom->composition, report, device, oom->note->allocated);
	return true;
}

void oom_release(struct oom *oom)
{
	composition_release(&oom->composition);
}

const char *oom_cause_name(enum oom_cause cause)
{
	static const char *const names[] = {"size", "leak", "fragmentation", "others"};

	return names[cause];
}

static void size_text(const struct oom *oom, const struct findings *device, char *buffer,
		      size_t size)
{
	uint64_t capacity = device->device->capacity;
	char bytes[32], step[32], blocks[32];

	if (oom->piled_up)
		snprintf(buffer, size,
			 "sheer size, or what is kept: %s piled up since step %s ended, in %s "
			 "blocks and more",
			 verdict_size_text((double)oom->tail.bytes, bytes, sizeof(bytes)),
			 verdict_count_text(oom->tail.after_step, step, sizeof(step)),
			 verdict_count_text(oom->tail.blocks, blocks, sizeof(blocks)));
	else if (capacity && oom->note->size > capacity)
		snprintf(buffer, size, "one allocation larger than the GPU");
	else if (device->verdict.label == VERDICT_WORKLOAD)
		snprintf(buffer, size, "the work of a step has outgrown the GPU");
	else
		snprintf(buffer, size, "sheer size: the step needs more than the GPU has");
}

const char *oom_cause_text(const struct oom *oom, const struct findings *device, char *buffer,
			   size_t size)
{
	char bytes[32];

	switch (oom->cause) {
	case OOM_LEAK:
		snprintf(buffer, size, "a leak: %s are kept, without which it would have fit",
			 verdict_size_text((double)oom->leaked, bytes, sizeof(bytes)));
		break;
	case OOM_FRAGMENTATION:
		snprintf(buffer, size,
			 "fragmentation: %s are reserved and free, in pieces that are too small",
			 verdict_size_text((double)oom->cached, bytes, sizeof(bytes)));
		break;
	case OOM_OTHERS:
		snprintf(buffer, size,
			 "%s of the GPU should be free: CUDA itself, another process or a limit "
			 "holds them",
			 verdict_size_text(room_left(oom, device), bytes, sizeof(bytes)));
		break;
	default:
		size_text(oom, device, buffer, size);
		break;
	}
	return buffer;
}
