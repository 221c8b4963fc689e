/*
 * What a mark does to a ledger: the step's births and deaths enter the evidence,
 * then every record that changed gets its version of this mark.
 */
#include <string.h>

#include "tracer/evidence.h"
#include "tracer/ledger.h"
#include "tracer/levels.h"
#include "tracer/teeth.h"
#include "tracer/timeline.h"
#include "tracer/trace_writer.h"

#include "tracer/banned.h"

enum {
	CACHE_LINE = 64 /* bytes, on the processors that matter */
};

/* The version that `mark` may overwrite: the one with the older number. */
static unsigned older(uint64_t first, uint64_t second)
{
	return first <= second ? 0 : 1;
}

/* A version is void from its first store until its mark counts. */
static void begin_version(uint64_t *number, uint64_t mark)
{
	__atomic_store_n(number, mark, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

/* The version of `mark`, made from the last one when it isn't begun yet. */
static struct gpuleak_evidence_version *evidence_version(uint32_t number, uint64_t mark)
{
	struct gpuleak_evidence_version *versions = trace.evidence[number - 1].versions;
	unsigned into = older(versions[0].mark, versions[1].mark);

	if (versions[!into].mark == mark)
		return &versions[!into];
	/* No earlier state of this site's: what another one left before the count began anew. */
	if (!versions[into].mark)
		evidence_init(&versions[into]);
	begin_version(&versions[into].mark, mark);
	evidence_copy(&versions[into], &versions[!into]);
	trace.evidence[number - 1].teeth[into] = trace.evidence[number - 1].teeth[!into];
	return &versions[into];
}

/* Those that belong to a version of evidence. */
static struct gpuleak_teeth *teeth_of(uint32_t number,
				      const struct gpuleak_evidence_version *version)
{
	struct gpuleak_evidence *evidence = &trace.evidence[number - 1];

	return &evidence->teeth[version - evidence->versions];
}

/*
 * A site that holds memory across a mark for the first time gets evidence.  Where steps were
 * counted anew the item was another site's, and of its other version evidence_copy() would keep
 * levels: it is emptied, too.
 */
static void promote(struct ledger_site *site, struct ledger_history *past, uint64_t mark)
{
	struct gpuleak_evidence_version *evidence, *versions;

	past->evidence = trace_evidence(site->file);
	if (!past->evidence) {
		site->evidence_denied = true;
		trace_count(&trace.state->dropped_evidence);
		return;
	}
	evidence = evidence_version(past->evidence, mark);
	evidence_init(evidence);
	evidence->mark = mark;
	versions = trace.evidence[past->evidence - 1].versions;
	if (versions[evidence == versions].level_count)
		evidence_init(&versions[evidence == versions]);
	*teeth_of(past->evidence, evidence) = (struct gpuleak_teeth){0};
}

static void settle_held(struct ledger *ledger, const struct ledger_held_free *held, uint64_t mark)
{
	struct ledger_history *past = ledger_history(ledger, held->site);
	struct gpuleak_evidence_version *evidence =
		past->evidence ? evidence_version(past->evidence, mark) : NULL;
	uint32_t age = ledger->step - held->birth;

	if (held->resized) {
		if (evidence)
			evidence_resized(evidence, held->birth, held->size, held->resized);
		return;
	}
	if (age > past->max_age)
		past->max_age = age;
	if (!evidence)
		return;
	evidence_died(evidence, held->birth, ledger->step, held->size);
	teeth_of(past->evidence, evidence)->collected += held->collected;
}

static void settle_frees(struct ledger *ledger, uint64_t mark)
{
	const struct ledger_held_free *held = ledger->held_frees.items;

	for (size_t i = 0; i < ledger->held_frees.count; i++)
		settle_held(ledger, &held[i], mark);
	ledger->held_frees.count = 0;
}

static void settle_births(struct ledger_site *site, struct ledger_history *past, uint32_t step,
			  uint64_t mark)
{
	struct gpuleak_evidence_version *evidence;

	if (!past->evidence && site->live_blocks && !site->evidence_denied)
		promote(site, past, mark);
	if (site->born)
		past->rounds++;
	if (past->evidence) {
		evidence = evidence_version(past->evidence, mark);
		if (site->temporaries)
			evidence_temporary(evidence, site->temporaries);
		if (site->born)
			evidence_born(evidence, step, site->born, site->born_bytes);
		evidence_level(evidence, step,
			       (struct evidence_level){past->marked_bytes, past->marked_blocks},
			       (struct evidence_level){site->live_bytes, site->live_blocks});
		teeth_mark(teeth_of(past->evidence, evidence), step, site->live_blocks);
	}
	past->marked_bytes = site->live_bytes;
	past->marked_blocks = site->live_blocks;
	site->born = 0;
	site->born_bytes = 0;
	site->temporaries = 0;
}

/*
 * Have the records fetched that the mark will write: those of the last step's sites were pushed
 * out of the caches by the step, and one after the other they would be waited for.
 */
static void foresee_records(struct ledger *ledger)
{
	for (uint32_t next_site = ledger->touched; next_site != LEDGER_LIST_END;) {
		const struct ledger_site *site = ledger_site(ledger, next_site - 1);
		const uint8_t *versions = (const uint8_t *)trace.sites[site->file].versions;

		__builtin_prefetch(ledger_history(ledger, next_site - 1), 1);
		for (size_t at = 0; at < sizeof(trace.sites->versions); at += CACHE_LINE)
			__builtin_prefetch(versions + at, 1);
		next_site = site->touched;
	}
}

void ledger_settle(struct ledger *ledger, uint64_t mark, uint32_t next)
{
	foresee_records(ledger);
	settle_frees(ledger, mark);
	for (uint32_t next_site = ledger->touched; next_site != LEDGER_LIST_END;) {
		struct ledger_site *site = ledger_site(ledger, next_site - 1);

		settle_births(site, ledger_history(ledger, next_site - 1), ledger->step, mark);
		next_site = site->touched;
	}
	__atomic_store_n(&ledger->step, next, __ATOMIC_RELAXED); /* ledger_in_baseline() */
}

static void publish_site(const struct ledger_site *site, const struct ledger_history *past,
			 uint64_t mark)
{
	struct gpuleak_site_version *versions = trace.sites[site->file].versions;
	struct gpuleak_site_version *into = &versions[older(versions[0].mark, versions[1].mark)];

	begin_version(&into->mark, mark);
	into->allocs = site->allocs;
	into->frees = site->allocs - site->live_blocks;
	into->alloc_bytes = site->alloc_bytes;
	into->live_bytes = site->live_bytes;
	into->peak_bytes = past->peak_bytes;
	into->peak_epoch = site->peak_epoch;
	into->live_blocks = site->live_blocks;
	into->first_step = past->first_step;
	into->last_step = site->last_step;
	into->max_age = past->max_age;
	into->rounds = past->rounds;
	into->evidence = past->evidence;
	into->filled = past->filled ? past->filled + past->filled_before : 0;
}

/* Publishes the sites touched since the last mark and empties the list. */
static void publish_sites(struct ledger *ledger, uint64_t mark)
{
	uint32_t next_site = ledger->touched;

	ledger->touched = LEDGER_LIST_END;
	while (next_site != LEDGER_LIST_END) {
		struct ledger_site *site = ledger_site(ledger, next_site - 1);

		publish_site(site, ledger_history(ledger, next_site - 1), mark);
		next_site = site->touched;
		site->touched = 0;
	}
}

static void publish_device(struct ledger *ledger, uint64_t mark)
{
	struct gpuleak_device_version *versions = trace.devices[ledger->device].versions;
	struct gpuleak_device_version *into = &versions[older(versions[0].mark, versions[1].mark)];

	if (!trace.state->committed) {
		ledger->first_allocated = ledger->allocated;
		ledger->first_reserved = ledger->reserved;
	}
	begin_version(&into->mark, mark);
	into->allocated = ledger->allocated;
	into->reserved = ledger->reserved;
	into->peak = ledger->peak;
	into->peak_reserved = ledger->peak_reserved;
	into->first_allocated = ledger->first_allocated;
	into->first_reserved = ledger->first_reserved;
	into->outside = ledger->outside;
	into->outside_peak = ledger->outside_peak;
	into->allocs = ledger->allocs;
	into->blocks = ledger->torch_blocks.count;
	into->peak_epoch = ledger->peak_epoch;
	into->peak_step = ledger->peak_step;
	into->outside_epoch = ledger->outside_epoch;
	into->timeline_half = ledger->timeline.timeline_half;
	into->timeline_count = ledger->timeline.timeline_count;
	into->timeline_shift = ledger->timeline.timeline_shift;
	into->open = ledger->timeline.open;
}

/* Only of a device that the program asked about. */
static void publish_driver(struct ledger *ledger, uint64_t mark)
{
	struct gpuleak_driver_version *now = &ledger->driver;
	struct gpuleak_driver_version *versions = trace.driver[ledger->device].versions;
	struct gpuleak_driver_version *into = &versions[older(versions[0].mark, versions[1].mark)];
	struct levels levels = {
		.pairs = &now->levels[0].min_other,
		.values = 1,
		.room = GPULEAK_DRIVER_LEVELS,
		.shift = &now->level_shift,
		.in_use = &now->level_count,
	};

	if (!now->asked)
		return;
	if (!now->mark)
		now->first_other = now->other;
	now->mark = mark;
	if (now->other > now->peak_other)
		now->peak_other = now->other;
	levels_add(&levels, mark, &now->other);
	begin_version(&into->mark, mark);
	memcpy((uint8_t *)into + sizeof(into->mark), (const uint8_t *)now + sizeof(now->mark),
	       sizeof(*now) - sizeof(now->mark));
}

void ledger_publish(struct ledger *ledger, uint64_t mark, uint64_t when)
{
	struct gpuleak_timeline_entry entry = {
		.first_step = (uint32_t)mark,
		.last_step = (uint32_t)mark,
		.when = when,
		.allocated = ledger->allocated,
		.peak = ledger->step_peak,
		.trough = ledger->step_trough,
		.reserved = ledger->reserved,
	};

	timeline_add(&ledger->timeline, ledger->device, &entry);
	publish_sites(ledger, mark);
	publish_device(ledger, mark);
	publish_driver(ledger, mark);
	ledger->step_peak = ledger->allocated;
	ledger->step_trough = ledger->allocated;
}

/* All that lives was born in step 0, and all that was freed lived within it. */
static void site_start_anew(struct ledger_site *site, struct ledger_history *past)
{
	struct gpuleak_site_version *versions = trace.sites[site->file].versions;

	versions[0].mark = versions[1].mark = 0;
	site->born = site->live_blocks;
	site->born_bytes = site->live_bytes;
	site->temporaries = (uint32_t)(site->allocs - site->live_blocks);
	site->evidence_denied = false;
	site->last_step = 0;
	*past = (struct ledger_history){.peak_bytes = past->peak_bytes,
					.filled_before = past->filled + past->filled_before};
}

void ledger_start_anew(struct ledger *ledger)
{
	struct gpuleak_device_version *versions = trace.devices[ledger->device].versions;

	versions[0].mark = versions[1].mark = 0;
	trace.driver[ledger->device].versions[0].mark = 0;
	trace.driver[ledger->device].versions[1].mark = 0;
	ledger->driver = (struct gpuleak_driver_version){
		.asked = ledger->driver.asked,
		.total = ledger->driver.total,
		.other = ledger->driver.other,
	};
	ledger->touched = LEDGER_LIST_END;
	for (size_t i = 0; i < ledger->sites.count; i++) {
		struct ledger_site *site = ledger_site(ledger, (uint32_t)i);

		site_start_anew(site, ledger_history(ledger, (uint32_t)i));
		site->touched = ledger->touched;
		ledger->touched = (uint32_t)i + 1;
	}
	ledger->held_frees.count = 0;
	blocks_start_anew(&ledger->torch_blocks);
	blocks_start_anew(&ledger->cuda_blocks);
	__atomic_store_n(&ledger->step, 0, __ATOMIC_RELAXED);
	ledger->peak_step = 0;
	ledger->step_peak = ledger->peak;
	ledger->step_trough = 0;
	ledger->timeline = (struct gpuleak_device_version){0};
	ledger_write_restart(ledger);
}
