#include "report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/file.h>

#include "report/trace_file.h"

/* The tracer holds an exclusive lock for as long as it writes. */
static bool writer_lives(const struct trace_file *file)
{
	if (flock(file->fd, LOCK_SH | LOCK_NB) == 0) {
		flock(file->fd, LOCK_UN);
		return false;
	}
	return errno == EWOULDBLOCK;
}

/*
 * The simulated GPU keeps what the host wrote to its memory in the host's: there a leak of
 * the GPU's looks like one of the host's as well.
 */
static void judge_host(struct report *report)
{
	const struct snapshot *snapshot = &report->snapshot;
	double leaked = 0;

	verdict_host(&report->host, &snapshot->host, snapshot->steps);
	if (!(snapshot->run.flags & GPULEAK_RUN_SIMULATED))
		return;
	for (size_t i = 0; i < snapshot->device_count; i++)
		leaked += (double)snapshot->devices[i].at.allocated -
			  (double)snapshot->devices[i].at.first_allocated;
	if (report->host.own.bytes < 2 * leaked)
		report->host.own = (struct verdict_growth){.grows = false};
}

/* Graver than all but leaks and fragmentation; too few steps are too few for it, too. */
static void judge_driver(struct findings *device, const struct snapshot *snapshot)
{
	struct verdict_device *verdict = &device->verdict;

	verdict_driver(&device->driver, &device->device->driver, snapshot->steps);
	if (device->driver.grows && verdict->label != VERDICT_SHORT &&
	    verdict->label < VERDICT_DRIVER)
		verdict->label = VERDICT_DRIVER;
}

static void judge(struct report *report, const struct options *options)
{
	struct snapshot *snapshot = &report->snapshot;
	struct rules_matcher matcher;

	rules_matcher_init(&matcher, options->rules, &report->code);
	report->verdict = VERDICT_SHORT;
	for (size_t i = 0; i < snapshot->device_count; i++) {
		struct findings *device = &report->devices[report->device_count++];

		findings_init(device, &report->code, &matcher, &snapshot->devices[i], options->all);
		judge_driver(device, snapshot);
		report->damaged += device->damaged;
		if (device->verdict.label > report->verdict)
			report->verdict = device->verdict.label;
	}
	rules_matcher_release(&matcher);
	judge_host(report);
	if (report->device_count && report_host_label(report) == VERDICT_HOST &&
	    report->verdict < VERDICT_HOST)
		report->verdict = VERDICT_HOST;
}

enum verdict report_host_label(const struct report *report)
{
	return report->host.own.grows || report->host.pinned.grows ? VERDICT_HOST : VERDICT_STABLE;
}

bool report_names_host(const struct report *report)
{
	return report->verdict == VERDICT_HOST;
}

int report_init(struct report *report, const char *path, const struct options *options,
		struct message *why)
{
	struct trace_file file;
	int ret;

	*report = (struct report){.path = path};
	if (trace_file_open(&file, path, why) < 0)
		return -1;
	report->running = writer_lives(&file);
	ret = snapshot_take(&report->snapshot, &file, path, why);
	trace_file_release(&file);
	if (ret < 0)
		return -1;
	report->damaged = report->snapshot.damaged;
	code_map_init(&report->code, &report->snapshot, options->user_code,
		      options->user_code_count);
	judge(report, options);
	return 0;
}

void report_release(struct report *report)
{
	for (size_t i = 0; i < report->device_count; i++)
		findings_release(&report->devices[i]);
	code_map_release(&report->code);
	snapshot_release(&report->snapshot);
	*report = (struct report){0};
}

static bool device_fails(const struct findings *device, uint32_t fail_on)
{
	if (fail_on & 1u << device->verdict.label && !device->known_label &&
	    !findings_explain(device))
		return true;
	for (size_t i = 0; i < device->count; i++)
		if (fail_on & 1u << device->items[i].label && finding_counts(&device->items[i]))
			return true;
	return false;
}

bool report_fails(const struct report *report, const struct options *options)
{
	for (size_t i = 0; i < report->device_count; i++)
		if (device_fails(&report->devices[i], options->fail_on))
			return true;
	return report->device_count && options->fail_on & 1u << VERDICT_HOST &&
	       !report->host_known && report_host_label(report) == VERDICT_HOST;
}

struct text report_without_python(const struct report *report)
{
	const struct gpuleak_run *run = &report->snapshot.run;

	if (run->flags & GPULEAK_RUN_PYTHON_STACKS || !run->python)
		return (struct text){0};
	return names_text(&report->snapshot.names, run->python_why);
}

struct text report_without_optimizers(const struct report *report)
{
	const struct snapshot *snapshot = &report->snapshot;

	for (size_t i = snapshot->note_count; i-- > 0;)
		if (snapshot->notes[i].kind == GPULEAK_NOTE_OPTIMIZERS_OFF)
			return names_text(&snapshot->names, snapshot->notes[i].text);
	return (struct text){0};
}

/*
 * PyTorch took memory of the device and reported no block in it, which it does one by
 * one: its cache is off, or it is a version that we don't know.
 */
static bool blocks_unseen(const struct snapshot *snapshot, const struct snapshot_device *device)
{
	if (device->at.allocs)
		return false;
	for (size_t i = 0; i < snapshot->site_count; i++)
		if (snapshot->sites[i].flags & GPULEAK_SITE_SEGMENT &&
		    snapshot_device(snapshot, &snapshot->sites[i]) == device)
			return true;
	return false;
}

static bool any_blocks_unseen(const struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->device_count; i++)
		if (blocks_unseen(snapshot, &snapshot->devices[i]))
			return true;
	return false;
}

/* A hundredth of all, and at least one. */
static bool is_much(uint64_t part, uint64_t whole)
{
	return part && part >= whole / 100;
}

const char *report_proves_too_little(const struct report *report, const struct options *options,
				     struct message *why)
{
	const struct snapshot *snapshot = &report->snapshot;
	const struct gpuleak_state *state = &snapshot->state;
	uint64_t events = report_events(report);

	why->text[0] = '\0';
	if (!events)
		message_set(why, "no GPU event was seen");
	else if (any_blocks_unseen(snapshot))
		message_set(why, "PyTorch took memory and reported no block in it: its cache is "
				 "off, or this version is not known");
	else if (snapshot->steps < options->require_steps)
		message_set(why, "%" PRIu64 " steps, %" PRIu64 " are required", snapshot->steps,
			    options->require_steps);
	else if (is_much(snapshot->blind, snapshot->site_count))
		message_set(why, "%" PRIu64 " records of sites are missing", snapshot->blind);
	else if (is_much(state->dropped_events, events))
		message_set(why, "%" PRIu64 " events were dropped", state->dropped_events);
	else if (is_much(state->dropped_blocks, events))
		message_set(why, "%" PRIu64 " blocks were dropped", state->dropped_blocks);
	else if (is_much(state->dropped_evidence, state->evidence_used))
		message_set(why, "%" PRIu64 " sites had no room for evidence",
			    state->dropped_evidence);
	return why->text[0] ? why->text : NULL;
}

bool report_complete(const struct report *report)
{
	const struct gpuleak_state *state = &report->snapshot.state;

	return state->status == GPULEAK_STATUS_FINISHED && !state->dropped_events &&
	       !state->dropped_sites && !state->dropped_blocks && !state->dropped_evidence &&
	       !report->snapshot.lost && !report->snapshot.cut;
}

uint64_t report_events(const struct report *report)
{
	const struct snapshot *snapshot = &report->snapshot;

	/* The ring has marks as well, and events after the last of them: no total depends on it. */
	return snapshot->mark.mark ? snapshot->mark.events : snapshot->events_kept;
}

uint64_t report_duration(const struct report *report)
{
	const struct snapshot *snapshot = &report->snapshot;

	return snapshot->state.finished ? snapshot->state.finished : snapshot->mark.when;
}

const struct findings *report_gravest(const struct report *report)
{
	const struct findings *best = NULL;

	for (size_t i = 0; i < report->device_count; i++) {
		const struct findings *device = &report->devices[i];

		if (device->verdict.label != report->verdict)
			continue;
		if (!best || device->verdict.bytes_per_step > best->verdict.bytes_per_step)
			best = device;
	}
	return best;
}
