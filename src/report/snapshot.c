#include "report/snapshot.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/snapshot_copy.h"
#include "trace/sound.h"

static const uint64_t memory_max = 900ull << 20; /* bytes, of a gibibyte in all */
static const uint64_t wait_max = 2000000000;	 /* ns */
static const uint64_t still_max = 100000000;	 /* ns: a writer of that kind does something */

/* For a moment at which a copy can be sound. */
struct wait {
	uint64_t until; /* ns on the clock */
	uint64_t begun; /* seen last ... */
	uint64_t since; /* ... since then */
	bool timed_out;
};

static uint64_t clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static bool read_state(const struct trace_file *file, struct gpuleak_state *state)
{
	struct trace_section section;

	if (!trace_file_section(file, GPULEAK_SECTION_STATE, sizeof(*state), &section) ||
	    !section.present)
		return false;
	/* What is read from here on is at least as new as what was read before. */
	atomic_thread_fence(memory_order_acquire);
	return trace_file_read(file, section.offset, state, sizeof(*state));
}

/*
 * The last whole mark.  Each mark leaves its number in one of two places beside
 * `committed`, so that one damaged number doesn't cost the trace.
 */
static uint64_t last_mark(const struct gpuleak_state *state, uint64_t *damaged)
{
	uint64_t best = 0;

	for (unsigned i = 0; i < 2; i++) {
		uint64_t mark = state->marks[i].mark;

		if (mark == state->committed)
			return mark;
		if (mark <= state->begun && mark > best)
			best = mark;
	}
	if (!state->committed && state->begun <= 1)
		return 0;
	++*damaged;
	return best ? best : state->committed;
}

static void take_mark(struct snapshot *snapshot)
{
	for (unsigned i = 0; i < 2; i++)
		if (snapshot->steps && snapshot->state.marks[i].mark == snapshot->steps)
			snapshot->mark = snapshot->state.marks[i];
}

static void read_run(struct snapshot *snapshot, const struct trace_file *file)
{
	struct trace_section section;

	if (!trace_file_section(file, GPULEAK_SECTION_RUN, sizeof(snapshot->run), &section) ||
	    !section.present ||
	    !trace_file_read(file, section.offset, &snapshot->run, sizeof(snapshot->run))) {
		snapshot->run = (struct gpuleak_run){.rank = -1, .world_size = -1};
		snapshot->damaged++;
	}
}

/*
 * Copy once.  What refers to names is copied before the counts of the names are
 * read, so that no reference points past them.
 */
static bool copy_once(struct snapshot *snapshot, const struct trace_file *file,
		      struct budget *budget, bool *sound)
{
	struct gpuleak_state state;

	*snapshot = (struct snapshot){.cut = file->cut, .damaged = file->damaged};
	*budget = (struct budget){.left = memory_max};
	if (!read_state(file, &snapshot->state))
		return false;
	snapshot->steps = last_mark(&snapshot->state, &snapshot->damaged);
	take_mark(snapshot);
	read_run(snapshot, file);
	copy_sites(snapshot, file, budget);
	copy_evidence(snapshot, file, budget);
	copy_devices(snapshot, file, budget);
	copy_host(snapshot, file);
	copy_driver(snapshot, file);
	copy_notes(snapshot, file, budget);
	if (!read_state(file, &state))
		return false;
	if (!snapshot->steps) /* a clock that has made no mark, or lost them to a better one */
		state.clock = GPULEAK_CLOCK_NONE;
	*sound = sound_copy(&snapshot->state, &state, snapshot->steps);
	snapshot->state = state;
	copy_names(snapshot, file, budget);
	return true;
}

/*
 * True when it is no use to copy once more: time is up, or `begun` is too high and
 * stays so, which is damage, since no writer is at work.
 */
static bool waited_enough(const struct snapshot *snapshot, struct wait *wait)
{
	uint64_t now = clock_now();

	if (snapshot->state.begun != wait->begun) {
		wait->begun = snapshot->state.begun;
		wait->since = now;
	}
	wait->timed_out = now > wait->until;
	return wait->timed_out || now > wait->since + still_max;
}

int snapshot_take(struct snapshot *snapshot, struct trace_file *file, const char *path,
		  struct message *why)
{
	struct wait wait = {.until = clock_now() + wait_max};
	struct budget budget;
	bool sound;

	for (;;) {
		if (!copy_once(snapshot, file, &budget, &sound)) {
			snapshot_release(snapshot);
			return message_set(why, "%s: cut short before its state", path);
		}
		if ((trace_file_steady(file) && sound) || waited_enough(snapshot, &wait))
			break;
		snapshot_release(snapshot);
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	snapshot->hurried = wait.timed_out;
	if (budget.spent) {
		snapshot_release(snapshot);
		return message_set(why, "%s: takes more than %" PRIu64 " MiB to read", path,
				   memory_max >> 20);
	}
	copy_events(snapshot, file);
	return 0;
}

void snapshot_release(struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->device_count; i++)
		free(snapshot->devices[i].timeline);
	free(snapshot->sites);
	free(snapshot->fresh);
	free(snapshot->open);
	free(snapshot->evidence);
	free(snapshot->teeth);
	free(snapshot->evidence_site);
	free(snapshot->notes);
	names_release(&snapshot->names);
	*snapshot = (struct snapshot){0};
}

const struct snapshot_device *snapshot_device(const struct snapshot *snapshot,
					      const struct snapshot_site *site)
{
	return site->device < snapshot->device_count ? &snapshot->devices[site->device] : NULL;
}

const struct gpuleak_evidence_version *snapshot_evidence(const struct snapshot *snapshot,
							 const struct snapshot_site *site)
{
	uint32_t item = site->at.evidence;

	if (!item || item > snapshot->evidence_count)
		return NULL;
	if (!snapshot->evidence[item - 1].mark || snapshot->evidence_site[item - 1] != site->item)
		return NULL;
	return &snapshot->evidence[item - 1];
}

const struct gpuleak_teeth *snapshot_teeth(const struct snapshot *snapshot,
					   const struct snapshot_site *site)
{
	return snapshot_evidence(snapshot, site) ? &snapshot->teeth[site->at.evidence - 1] : NULL;
}

static const struct snapshot_site *find_item(const struct snapshot_site *sites, size_t count,
					     uint32_t item)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sites[middle].item < item)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && sites[low].item == item ? &sites[low] : NULL;
}

const struct snapshot_site *snapshot_site_of(const struct snapshot *snapshot, uint32_t item)
{
	const struct snapshot_site *site = find_item(snapshot->sites, snapshot->site_count, item);

	return site ? site : find_item(snapshot->fresh, snapshot->fresh_count, item);
}

bool snapshot_site_is_segment(const struct snapshot *snapshot, uint32_t item)
{
	const struct snapshot_site *site = snapshot_site_of(snapshot, item);

	return site && (site->flags & GPULEAK_SITE_SEGMENT);
}
