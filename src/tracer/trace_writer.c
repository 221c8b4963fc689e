#include "tracer/trace_writer.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "trace/layout.h"
#include "tracer/hash.h"
#include "tracer/map.h"
#include "tracer/memory.h"

#include "tracer/banned.h"

/* Kept free for the sites that stand for all stacks without room. */
enum {
	OVERFLOW_SITES = 4 * GPULEAK_DEVICES_MAX
};

struct trace trace = {.file = {.fd = -1}};

/* The innermost lock: nothing else is taken while it is held.  See tracer.h. */
static pthread_mutex_t intern_lock = PTHREAD_MUTEX_INITIALIZER;

/* Guarded by intern_lock. */
static struct map string_map;		     /* hash of the text -> id */
static struct map frame_map;		     /* hash of the frame -> number */
static struct map stack_map;		     /* hash of the frames -> word */
static struct memory_array native_addresses; /* by frame number; NULL for Python's */
static uint64_t named;			     /* frames that trace_next_unnamed() is done with */

static uint64_t now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint64_t trace_now(void)
{
	return now(CLOCK_MONOTONIC) - trace.started;
}

static void *section(const struct gpuleak_file_header *header, uint32_t kind, uint64_t *items)
{
	const struct gpuleak_section *found = layout_section(header, kind);

	if (items)
		*items = found->size / found->item_size;
	return trace.file.bytes + found->offset;
}

/* What is counted by a published count is written first: release. */
static void publish(uint64_t *count, uint64_t value)
{
	__atomic_store_n(count, value, __ATOMIC_RELEASE);
}

static void point_into(const struct gpuleak_file_header *header)
{
	uint64_t entries;

	trace.run = section(header, GPULEAK_SECTION_RUN, NULL);
	trace.state = section(header, GPULEAK_SECTION_STATE, NULL);
	trace.strings = section(header, GPULEAK_SECTION_STRINGS, &trace.strings_size);
	trace.strings_size *= 4;
	trace.frames = section(header, GPULEAK_SECTION_FRAMES, &trace.frames_max);
	trace.stacks = section(header, GPULEAK_SECTION_STACKS, &trace.stacks_max);
	trace.sites = section(header, GPULEAK_SECTION_SITES, &trace.sites_max);
	trace.evidence = section(header, GPULEAK_SECTION_EVIDENCE, &trace.evidence_max);
	trace.devices = section(header, GPULEAK_SECTION_DEVICES, NULL);
	trace.host = section(header, GPULEAK_SECTION_HOST, NULL);
	trace.driver = section(header, GPULEAK_SECTION_DRIVER, NULL);
	trace.timeline = section(header, GPULEAK_SECTION_TIMELINE, &entries);
	trace.timeline_share = entries / GPULEAK_DEVICES_MAX / 2;
	trace.notes = section(header, GPULEAK_SECTION_NOTES, &trace.notes_max);
	trace.ring = section(header, GPULEAK_SECTION_RING, &trace.ring_pages);
}

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

/*
 * Have the ring's pages in memory before the first event: a fault on each costs a
 * hook more than all else it does.  Older kernels fault as they go.  The others come one
 * by one: with a large read-ahead, as of RAID, a fault fills megabytes with zeros.
 */
static void prepare_pages(void)
{
	madvise(trace.ring, trace.ring_pages * sizeof(*trace.ring), MADV_POPULATE_WRITE);
	madvise(trace.file.bytes, trace.file.size, MADV_RANDOM);
}

bool trace_writer_init(struct output_file *file, uint64_t ring)
{
	struct gpuleak_file_header header;

	if (!layout_header(&header, file->size, ring))
		return false;
	trace.file = *file;
	point_into(&header);
	trace.started = now(CLOCK_MONOTONIC);
	trace.run->started = now(CLOCK_REALTIME);
	trace.run->ring_page_size = sizeof(struct gpuleak_ring_page);
	trace.run->rank = -1;
	trace.run->world_size = -1;
	trace.state->status = GPULEAK_STATUS_RUNNING;
	trace.state->strings_used = 4; /* id 0 is nothing */
	trace.state->stacks_used = 2;  /* word 0 is the empty stack */
	memcpy(trace.file.bytes, &header, sizeof(header));
	prepare_pages();
	return true;
}

void trace_writer_forget(void)
{
	output_file_forget(&trace.file);
	memset(&trace, 0, sizeof(trace));
	trace.file.fd = -1;
	pthread_mutex_init(&intern_lock, NULL);
	string_map = frame_map = stack_map = (struct map){0};
	native_addresses = (struct memory_array){0};
	named = 0;
}

/* Caller holds intern_lock. */
static gpuleak_string_id write_string(const char *text, size_t size, uint64_t hash)
{
	uint64_t used = trace.state->strings_used;
	uint64_t needed = 4 + (size + 3) / 4 * 4;
	uint32_t length = (uint32_t)size;

	if (needed > trace.strings_size - used)
		return 0;
	memcpy(trace.strings + used, &length, sizeof(length));
	memcpy(trace.strings + used + 4, text, size);
	publish(&trace.state->strings_used, used + needed);
	map_put(&string_map, hash, (uint32_t)(used / 4));
	return (uint32_t)(used / 4);
}

gpuleak_string_id trace_string(const char *text, size_t size)
{
	uint64_t hash = hash_bytes(text, size);
	uint32_t id;

	if (!trace.state || size > UINT16_MAX)
		return 0;
	pthread_mutex_lock(&intern_lock);
	id = map_get(&string_map, hash);
	if (id == MAP_MISSING)
		id = write_string(text, size, hash);
	pthread_mutex_unlock(&intern_lock);
	return id;
}

static uint64_t frame_hash(const struct gpuleak_frame *frame)
{
	struct gpuleak_frame key = *frame;

	if (key.language == GPULEAK_LANGUAGE_NATIVE)
		key.function = 0; /* filled in later */
	return hash_bytes(&key, sizeof(key));
}

/* Caller holds intern_lock. */
static uint32_t write_frame(const struct gpuleak_frame *frame, const void *native_address,
			    uint64_t hash)
{
	uint64_t number = trace.state->frames_used;
	const void **address;

	if (number >= trace.frames_max)
		return GPULEAK_SITE_NONE;
	address = memory_array_add(&native_addresses, sizeof(*address));
	if (!address)
		return GPULEAK_SITE_NONE;
	*address = native_address;
	trace.frames[number] = *frame;
	publish(&trace.state->frames_used, number + 1);
	map_put(&frame_map, hash, (uint32_t)number);
	return (uint32_t)number;
}

uint32_t trace_frame(const struct gpuleak_frame *frame, const void *native_address)
{
	uint64_t hash = frame_hash(frame);
	uint32_t number;

	pthread_mutex_lock(&intern_lock);
	number = map_get(&frame_map, hash);
	if (number == MAP_MISSING)
		number = write_frame(frame, native_address, hash);
	pthread_mutex_unlock(&intern_lock);
	return number;
}

/* Caller holds intern_lock. */
static uint32_t write_stack(const uint32_t *frames, uint32_t count, uint32_t flags, uint64_t hash)
{
	uint64_t word = trace.state->stacks_used;

	if (count + 2u > trace.stacks_max - word)
		return MAP_MISSING;
	trace.stacks[word] = count;
	trace.stacks[word + 1] = flags;
	memcpy(trace.stacks + word + 2, frames, count * sizeof(*frames));
	publish(&trace.state->stacks_used, word + 2 + count);
	map_put(&stack_map, hash, (uint32_t)word);
	return (uint32_t)word;
}

bool trace_stack(const uint32_t *frames, uint32_t count, uint32_t flags, uint32_t *word,
		 uint64_t *key)
{
	*key = hash_mix(hash_bytes(frames, count * sizeof(*frames)), flags);
	pthread_mutex_lock(&intern_lock);
	*word = map_get(&stack_map, *key);
	if (*word == MAP_MISSING)
		*word = write_stack(frames, count, flags, *key);
	pthread_mutex_unlock(&intern_lock);
	return *word != MAP_MISSING;
}

uint32_t trace_site(const struct gpuleak_site *site)
{
	bool overflow = site->flags & GPULEAK_SITE_OVERFLOW;
	uint64_t room = trace.sites_max - (overflow ? 0 : OVERFLOW_SITES);
	uint64_t number;

	pthread_mutex_lock(&intern_lock);
	number = trace.state->sites_used;
	if (number < room) {
		trace.sites[number] = *site;
		publish(&trace.state->sites_used, number + 1);
	}
	pthread_mutex_unlock(&intern_lock);
	return number < room ? (uint32_t)number : GPULEAK_SITE_NONE;
}

uint32_t trace_evidence(uint32_t site)
{
	uint64_t number;

	pthread_mutex_lock(&intern_lock);
	number = trace.state->evidence_used;
	if (number < trace.evidence_max) {
		trace.evidence[number].site = site;
		publish(&trace.state->evidence_used, number + 1);
	}
	pthread_mutex_unlock(&intern_lock);
	return number < trace.evidence_max ? (uint32_t)number + 1 : 0;
}

void trace_note(const struct gpuleak_note *note)
{
	uint64_t number;

	pthread_mutex_lock(&intern_lock);
	number = trace.state->notes_used;
	if (number < trace.notes_max) {
		trace.notes[number] = *note;
		publish(&trace.state->notes_used, number + 1);
	} else {
		trace_count(&trace.state->dropped_notes);
	}
	pthread_mutex_unlock(&intern_lock);
}

void trace_start_anew(void)
{
	pthread_mutex_lock(&intern_lock);
	for (uint64_t i = 0; i < trace.state->evidence_used; i++)
		trace.evidence[i].versions[0].mark = trace.evidence[i].versions[1].mark = 0;
	publish(&trace.state->evidence_used, 0);
	for (uint64_t i = 0; i < trace.state->notes_used; i++)
		trace.notes[i].step = trace.notes[i].kind == GPULEAK_NOTE_PHASE ? 1 : 0;
	pthread_mutex_unlock(&intern_lock);
}

const void *trace_next_unnamed(uint64_t *number)
{
	const void *address = NULL;

	pthread_mutex_lock(&intern_lock);
	while (!address && named < trace.state->frames_used) {
		*number = named++;
		address = ((const void **)native_addresses.items)[*number];
	}
	pthread_mutex_unlock(&intern_lock);
	return address;
}
