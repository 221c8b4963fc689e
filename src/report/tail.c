#include "report/tail.h"

#include <stdlib.h>

#include "report/code.h"
#include "report/memory.h"
#include "report/verdict_constants.h"

/* Against the peak of the steps counted. */
static const double times_peak = 2;

/* Allocated less freed since the mark, of one site; what was freed of before is not known. */
struct held {
	int64_t bytes;
	int64_t blocks;
};

static bool is_of(const struct snapshot_event *event, const struct findings *device)
{
	return event->device == device->device->device &&
	       (event->kind == GPULEAK_EVENT_ALLOC || event->kind == GPULEAK_EVENT_FREE);
}

/* Behind which event most was allocated; the process that ends gives back everything. */
static size_t highest(const struct snapshot *snapshot, const struct findings *device)
{
	int64_t total = 0, most = 0;
	size_t end = 0;

	for (size_t i = 0; i < snapshot->open_count; i++) {
		if (!is_of(&snapshot->open[i], device) ||
		    __builtin_add_overflow(total, snapshot->open[i].size, &total) || total <= most)
			continue;
		most = total;
		end = i + 1;
	}
	return end;
}

static size_t sites_end(const struct snapshot_site *sites, size_t count)
{
	return count ? (size_t)sites[count - 1].item + 1 : 0;
}

/* Owned by the caller: by the site's number, of which there are `*count`. */
static struct held *held_at(const struct snapshot *snapshot, const struct findings *device,
			    size_t end, size_t *count)
{
	size_t old = sites_end(snapshot->sites, snapshot->site_count);
	size_t fresh = sites_end(snapshot->fresh, snapshot->fresh_count);
	struct held *held;

	*count = old > fresh ? old : fresh;
	held = memory_new(*count, sizeof(*held));
	for (size_t i = 0; i < end; i++) {
		const struct snapshot_event *event = &snapshot->open[i];
		struct held *of = event->site < *count ? &held[event->site] : NULL;

		if (!of || !is_of(event, device) ||
		    __builtin_add_overflow(of->bytes, event->size, &of->bytes))
			continue;
		of->blocks += event->size > 0 ? 1 : -1;
	}
	return held;
}

static uint64_t at_peak(const struct snapshot_site *site, const struct findings *device)
{
	return site->at.mark ? site_bytes_at_peak(site, device->device) : 0;
}

static bool is_much(const struct tail *tail, const struct findings *device)
{
	uint64_t bytes = tail->bytes;

	return bytes >= NAMED_BYTES ||
	       (double)bytes >= NAMED_SHARE * (double)device->device->at.peak;
}

bool tail_find(struct tail *tail, struct report *report, const struct findings *device)
{
	const struct snapshot *snapshot = &report->snapshot;
	const struct snapshot_site *heaviest = NULL;
	size_t count, end;
	struct held *held, most = {0};
	struct stack stack;

	*tail = (struct tail){.after_step = snapshot->steps};
	end = snapshot->steps ? highest(snapshot, device) : 0;
	if (!end)
		return false;
	held = held_at(snapshot, device, end, &count);
	for (size_t i = 0; i < count; i++) {
		const struct snapshot_site *site = snapshot_site_of(snapshot, (uint32_t)i);

		if (!site || site->source != GPULEAK_SOURCE_TORCH || held[i].bytes <= 0)
			continue;
		tail->bytes += (uint64_t)held[i].bytes;
		if (held[i].bytes > most.bytes) {
			most = held[i];
			heaviest = site;
		}
	}
	free(held);
	if (most.blocks < VERDICT_MARKS_MIN || !is_much(tail, device) ||
	    (double)most.bytes < times_peak * (double)at_peak(heaviest, device))
		return false;
	tail->blocks = (uint64_t)most.blocks;
	if (!(heaviest->flags & GPULEAK_SITE_OVERFLOW) &&
	    names_stack(&snapshot->names, heaviest->stack, &stack))
		place_of_stack(&tail->place, &report->code, &stack);
	findings_lend_line(device, heaviest, &tail->place);
	return true;
}
