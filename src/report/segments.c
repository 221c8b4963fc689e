#include "report/segments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/memory.h"
#include "report/ring.h"

enum {
	SEGMENTS_MAX = 20000,
	BLOCKS_TABLE = 1 << 20, /* slots for live blocks; half of them at most are used */
	WORK_MAX = 300000000,	/* segments and slots looked at: bounds the time for any bytes */
	STEPS_LEAST = 3,
	STEPS_SHARE = 10, /* one part in so many of the run */
};

static const uint64_t small_segment = 2 << 20; /* bytes: a pool of their own */

struct segment {
	uint64_t address;
	uint64_t size;
	uint64_t used;	  /* now */
	uint64_t highest; /* most that was in use in the steps that decide */
	uint32_t site;
	bool despite;	/* one as large lay free when it was taken */
	bool scattered; /* as much lay free then, in smaller pieces */
};

struct live_block {
	uint64_t address; /* 0: none */
	uint64_t size;
};

struct replay {
	struct segment *segments; /* owned, by address */
	size_t count;
	struct live_block *blocks; /* owned table */
	size_t block_count;
	uint32_t last_site;
	uint32_t from; /* the first step that decides */
	bool deciding;
	uint64_t work; /* looked at so far */
	bool failed;   /* more than there is room or time for */
};

/* The first segment that begins behind `address`. */
static size_t segment_after(const struct replay *replay, uint64_t address)
{
	size_t low = 0, high = replay->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (replay->segments[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct segment *segment_of(const struct replay *replay, uint64_t address)
{
	size_t i = segment_after(replay, address);
	struct segment *segment = i ? &replay->segments[i - 1] : NULL;

	return segment && address - segment->address < segment->size ? segment : NULL;
}

static void spend(struct replay *replay, uint64_t work)
{
	replay->work += work;
	replay->failed |= replay->work > WORK_MAX;
}

static struct live_block *block_at(struct replay *replay, uint64_t address)
{
	size_t slot = (size_t)((address * 0x9e3779b97f4a7c15ull) >> 40) % BLOCKS_TABLE;

	while (replay->blocks[slot].address && replay->blocks[slot].address != address &&
	       !replay->failed) {
		slot = (slot + 1) % BLOCKS_TABLE;
		spend(replay, 1);
	}
	return &replay->blocks[slot];
}

/* Closes the gap, so that what was put behind it is still found. */
static void block_remove(struct replay *replay, struct live_block *block)
{
	size_t hole = (size_t)(block - replay->blocks);

	*block = (struct live_block){0};
	replay->block_count--;
	for (size_t at = (hole + 1) % BLOCKS_TABLE; replay->blocks[at].address && !replay->failed;
	     at = (at + 1) % BLOCKS_TABLE) {
		struct live_block moved = replay->blocks[at];

		replay->blocks[at] = (struct live_block){0};
		*block_at(replay, moved.address) = moved;
	}
}

/* PyTorch takes the smallest free block that is large enough, of the stream's own. */
static bool one_lies_free(const struct replay *replay, uint64_t size)
{
	for (size_t i = 0; i < replay->count; i++) {
		const struct segment *segment = &replay->segments[i];

		if (!segment->used && segment->size >= size &&
		    (segment->size <= small_segment) == (size <= small_segment))
			return true;
	}
	return false;
}

/* What lies free in segments of the same pool. */
static uint64_t free_bytes(const struct replay *replay, uint64_t size)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < replay->count; i++)
		if ((replay->segments[i].size <= small_segment) == (size <= small_segment))
			bytes += replay->segments[i].size - replay->segments[i].used;
	return bytes;
}

static void take_segment(struct replay *replay, const struct gpuleak_event *event)
{
	uint64_t size = (uint64_t)event->size;
	size_t i = segment_after(replay, event->address);
	struct segment segment = {
		.address = event->address,
		.size = size,
		.site = event->site,
		.despite = one_lies_free(replay, size),
		.scattered = free_bytes(replay, size) >= size,
	};

	if (replay->count == SEGMENTS_MAX) {
		replay->failed = true;
		return;
	}
	memmove(&replay->segments[i + 1], &replay->segments[i],
		(replay->count - i) * sizeof(*replay->segments));
	replay->segments[i] = segment;
	replay->count++;
	spend(replay, 2 * replay->count);
	replay->last_site = event->site;
}

static void give_segment(struct replay *replay, uint64_t address)
{
	struct segment *segment = segment_of(replay, address);
	size_t i;

	if (!segment || segment->address != address)
		return;
	i = (size_t)(segment - replay->segments);
	replay->count--;
	spend(replay, replay->count);
	memmove(segment, segment + 1, (replay->count - i) * sizeof(*segment));
}

static void take_block(struct replay *replay, const struct gpuleak_event *event)
{
	struct segment *segment = segment_of(replay, event->address);
	struct live_block *block;

	if (!segment)
		return;
	block = block_at(replay, event->address);
	if (block->address)
		segment->used -= block->size < segment->used ? block->size : segment->used;
	else if (replay->block_count++ >= BLOCKS_TABLE / 2)
		replay->failed = true;
	*block = (struct live_block){event->address, (uint64_t)event->size};
	segment->used += block->size;
	if (replay->deciding && segment->used > segment->highest)
		segment->highest = segment->used;
}

static void give_block(struct replay *replay, uint64_t address)
{
	struct segment *segment = segment_of(replay, address);
	struct live_block *block = block_at(replay, address);

	if (!block->address)
		return;
	if (segment)
		segment->used -= block->size < segment->used ? block->size : segment->used;
	block_remove(replay, block);
}

/* From here on what is in use counts. */
static void decide(struct replay *replay)
{
	if (replay->deciding)
		return;
	replay->deciding = true;
	for (size_t i = 0; i < replay->count; i++)
		replay->segments[i].highest = replay->segments[i].used;
}

static void apply(struct replay *replay, const struct snapshot *snapshot,
		  const struct gpuleak_event *event)
{
	if (event->step >= replay->from)
		decide(replay);
	switch (event->when >> 56) {
	case GPULEAK_EVENT_ALLOC:
		if (event->address && event->size > 0)
			take_block(replay, event);
		break;
	case GPULEAK_EVENT_FREE:
		if (event->address)
			give_block(replay, event->address);
		break;
	case GPULEAK_EVENT_MALLOC:
		if (event->size > 0 && snapshot_site_is_segment(snapshot, event->site))
			take_segment(replay, event);
		break;
	case GPULEAK_EVENT_CUDA_FREE:
		give_segment(replay, event->address);
		break;
	default:
		break;
	}
}

static void sum_up(struct segments *segments, const struct replay *replay)
{
	for (size_t i = 0; i < replay->count; i++) {
		const struct segment *segment = &replay->segments[i];

		segments->known++;
		segments->known_bytes += segment->size;
		if (segment->despite) {
			segments->despite++;
			segments->despite_bytes += segment->size;
		}
		if (segment->scattered) {
			segments->scattered++;
			segments->scattered_bytes += segment->size;
		}
		if (!segment->highest) {
			segments->idle++;
			segments->idle_bytes += segment->size;
		} else if (segment->highest < segment->size / 2) {
			segments->pieces++;
			segments->pieces_bytes += segment->size - segment->highest;
		}
	}
	for (size_t i = 0; i < BLOCKS_TABLE; i++) {
		const struct live_block *block = &replay->blocks[i];
		const struct segment *segment =
			block->address ? segment_of(replay, block->address) : NULL;

		if (segment && segment->highest && segment->highest < segment->size / 2 &&
		    block->size > segments->largest_piece)
			segments->largest_piece = block->size;
	}
}

/* What lies idle most. */
static enum segments_reason reason_of(const struct segments *segments)
{
	if (!segments->idle_bytes && !segments->pieces_bytes)
		return SEGMENTS_UNKNOWN;
	if (segments->pieces_bytes > segments->idle_bytes)
		return SEGMENTS_PIECES;
	if (2 * segments->despite_bytes > segments->idle_bytes)
		return SEGMENTS_STREAMS;
	return SEGMENTS_OUTGROWN;
}

/* The step of the error, or the last one that has its mark. */
static bool is_over(const struct snapshot *snapshot, const struct gpuleak_event *event, bool at_oom)
{
	if (at_oom)
		return event->when >> 56 == GPULEAK_EVENT_OOM &&
		       (!snapshot->steps || event->step > snapshot->steps);
	return event->step > snapshot->steps;
}

/* How many events there are up to the last one at which steps were counted anew. */
static size_t count_before_restart(struct ring *ring)
{
	struct gpuleak_ring_page page;
	size_t count = 0, before = 0;

	while (ring_take(ring, &page)) {
		unsigned events = ring_page_events(&page);

		for (unsigned i = 0; i < events; i++) {
			count++;
			if (page.events[i].when >> 56 == GPULEAK_EVENT_RESTART)
				before = count;
		}
	}
	ring_rewind(ring);
	return before;
}

static void replay_ring(struct replay *replay, const struct report *report, struct ring *ring,
			bool at_oom)
{
	size_t before = count_before_restart(ring);
	struct gpuleak_ring_page page;
	size_t count = 0;

	while (!replay->failed && ring_take(ring, &page)) {
		unsigned events = ring_page_events(&page);

		for (unsigned i = 0; i < events; i++) {
			struct gpuleak_event *event = &page.events[i];

			if (++count <= before)
				event->step = 0; /* whatever was counted then */
			else if (is_over(&report->snapshot, event, at_oom))
				return;
			apply(replay, &report->snapshot, event);
		}
	}
}

bool segments_find(struct segments *segments, const struct report *report,
		   const struct findings *device, bool at_oom)
{
	const struct snapshot *snapshot = &report->snapshot;
	uint64_t steps = snapshot->steps / STEPS_SHARE;
	struct replay replay = {.last_site = GPULEAK_SITE_NONE};
	struct trace_file file;
	struct message why;
	struct ring ring;

	*segments = (struct segments){0};
	if (trace_file_open(&file, report->path, &why) < 0)
		return false;
	segments->steps = (uint32_t)(steps > STEPS_LEAST ? steps : STEPS_LEAST);
	replay.segments = memory_new(SEGMENTS_MAX, sizeof(*replay.segments));
	replay.blocks = memory_new(BLOCKS_TABLE, sizeof(*replay.blocks));
	replay.from = at_oom || snapshot->steps < segments->steps
			      ? UINT32_MAX
			      : (uint32_t)snapshot->steps - segments->steps + 1;
	ring_init(&ring, &file, snapshot->state.ring_claimed, device->device->device);
	replay_ring(&replay, report, &ring, at_oom);
	decide(&replay);
	ring_release(&ring);
	trace_file_release(&file);
	if (!replay.failed)
		sum_up(segments, &replay);
	segments->reason = reason_of(segments);
	segments->last = snapshot_site_of(snapshot, replay.last_site);
	free(replay.segments);
	free(replay.blocks);
	return segments->reason != SEGMENTS_UNKNOWN;
}

const char *segments_reason_name(enum segments_reason reason)
{
	static const char *const names[] = {NULL, "streams", "outgrown", "pieces"};

	return names[reason];
}

/* Above the pieces, so that no larger block is split for them. */
static uint64_t split_size(const struct segments *segments)
{
	uint64_t mib = segments->largest_piece / (1 << 20) + 1;

	return mib > 21 ? mib : 21; /* PyTorch asks for more than 20 */
}

const char *segments_setting(const struct segments *segments, char *buffer, size_t size)
{
	if (segments->reason == SEGMENTS_STREAMS)
		return NULL;
	if (segments->reason == SEGMENTS_PIECES)
		snprintf(buffer, size, "expandable_segments:True, or max_split_size_mb:%llu",
			 (unsigned long long)split_size(segments));
	else
		snprintf(buffer, size, "expandable_segments:True");
	return buffer;
}
