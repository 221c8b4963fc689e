#include "report/composition.h"

#include <stdlib.h>
#include <string.h>

#include "report/memory.h"

/* Bytes of each site, by its number in the trace. */
struct moment {
	uint64_t *bytes; /* owned */
	size_t count;
};

static void
for_each_site(struct moment *moment, const struct findings *device, const struct snapshot *snapshot,
	      uint64_t (*bytes_of)(const struct snapshot_site *, const struct snapshot_device *))
{
	size_t last = 0;

	for (size_t i = 0; i < snapshot->site_count; i++)
		last = snapshot->sites[i].item >= last ? snapshot->sites[i].item + 1 : last;
	for (size_t i = 0; i < snapshot->fresh_count; i++)
		last = snapshot->fresh[i].item >= last ? snapshot->fresh[i].item + 1 : last;
	moment->count = last;
	moment->bytes = memory_new(last, sizeof(*moment->bytes));
	for (size_t i = 0; i < snapshot->site_count; i++) {
		const struct snapshot_site *site = &snapshot->sites[i];

		if (site->source == GPULEAK_SOURCE_TORCH &&
		    snapshot_device(snapshot, site) == device->device)
			moment->bytes[site->item] = bytes_of(site, device->device);
	}
}

static uint64_t live_bytes(const struct snapshot_site *site, const struct snapshot_device *device)
{
	(void)device;
	return site->at.live_bytes;
}

/* One event more.  False where it is none of PyTorch's memory. */
static bool apply(struct moment *moment, uint64_t *total, const struct snapshot_event *event)
{
	uint64_t size = event->size < 0 ? 0 - (uint64_t)event->size : (uint64_t)event->size;
	uint64_t *bytes = event->site < moment->count ? &moment->bytes[event->site] : NULL;

	if (event->kind == GPULEAK_EVENT_ALLOC) {
		*total += size;
		if (bytes)
			*bytes += size;
	} else if (event->kind == GPULEAK_EVENT_FREE) {
		*total -= size < *total ? size : *total;
		if (bytes)
			*bytes -= size < *bytes ? size : *bytes;
	} else {
		return false;
	}
	return true;
}

/* Do what was done after the last mark, up to the event `end`. */
static uint64_t replay(struct moment *moment, const struct findings *device,
		       const struct snapshot *snapshot, size_t end)
{
	uint64_t total = device->device->at.allocated;

	for (size_t i = 0; i < end; i++)
		if (snapshot->open[i].device == device->device->device)
			apply(moment, &total, &snapshot->open[i]);
	return total;
}

/* Behind which event the step under way was at its highest; 0 where the mark was higher. */
static size_t open_peak(const struct findings *device, const struct snapshot *snapshot)
{
	uint64_t total = device->device->at.allocated;
	uint64_t highest = device->device->at.peak;
	struct moment none = {0};
	size_t end = 0;

	for (size_t i = 0; i < snapshot->open_count; i++) {
		if (snapshot->open[i].device != device->device->device ||
		    !apply(&none, &total, &snapshot->open[i]) || total <= highest)
			continue;
		highest = total;
		end = i + 1;
	}
	return end;
}

static size_t last_oom(const struct findings *device, const struct snapshot *snapshot)
{
	for (size_t i = snapshot->open_count; i > 0; i--)
		if (snapshot->open[i - 1].kind == GPULEAK_EVENT_OOM &&
		    snapshot->open[i - 1].device == device->device->device)
			return i;
	return 0;
}

/* What the findings know of a site; NULL for one that they left out. */
static const struct verdict_site *verdict_of(const struct findings *device,
					     const struct snapshot_site *site)
{
	size_t low = 0, high = device->site_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (device->origins[middle]->item < site->item)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < device->site_count && device->origins[low]->item == site->item)
		return &device->sites[low];
	return NULL;
}

static void add_site(struct composition *composition, struct report *report,
		     const struct findings *device, const struct snapshot_site *site,
		     uint64_t bytes)
{
	const struct verdict_site *verdict = verdict_of(device, site);
	struct finding finding = {
		.label = verdict ? verdict->label : VERDICT_STABLE,
		.site = site,
		.verdict = verdict,
		.bytes = bytes,
	};
	struct stack stack;

	names_stack(&report->snapshot.names, site->stack, &stack);
	if (!(site->flags & GPULEAK_SITE_OVERFLOW))
		place_of_stack(&finding.place, &report->code, &stack);
	findings_lend_line(device, site, &finding.place);
	composition->rows[composition->count++] = (struct composition_row){
		.bytes = bytes,
		.parts = 1,
		.kind = kind_of(&finding, &report->snapshot),
		.place = finding.place,
		.site = site,
		.weight = bytes,
	};
}

static bool same_row(const struct names *names, const struct composition_row *a,
		     const struct composition_row *b)
{
	return a->kind == b->kind &&
	       (a->site->flags & GPULEAK_SITE_OVERFLOW) ==
		       (b->site->flags & GPULEAK_SITE_OVERFLOW) &&
	       place_frames_same(names, a->place.where, b->place.where);
}

static int by_bytes(const void *first, const void *second)
{
	const struct composition_row *a = first;
	const struct composition_row *b = second;

	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	return a->site->item < b->site->item ? -1 : a->site->item > b->site->item;
}

/* Sites of one line and kind become one row. */
static void join_rows(struct composition *composition, const struct names *names)
{
	size_t mask = 15;
	uint32_t *table; /* row + 1, by hash */
	size_t kept = 0;

	while (mask < 2 * composition->count)
		mask = 2 * mask + 1;
	table = memory_new(mask + 1, sizeof(*table));
	qsort(composition->rows, composition->count, sizeof(*composition->rows), by_bytes);
	for (size_t i = 0; i < composition->count; i++) {
		struct composition_row row = composition->rows[i];
		size_t slot = place_frame_hash(names, row.place.where) + row.kind;
		unsigned compared = 0;

		slot = (slot * 0x9e3779b97f4a7c15ull >> 20) & mask;
		while (table[slot] && (compared++ >= 64 ||
				       !same_row(names, &composition->rows[table[slot] - 1], &row)))
			slot = (slot + 1) & mask;
		if (table[slot]) {
			composition->rows[table[slot] - 1].bytes += row.bytes;
			composition->rows[table[slot] - 1].parts++;
			continue;
		}
		composition->rows[kept++] = row;
		table[slot] = (uint32_t)kept;
	}
	composition->count = kept;
	free(table);
	qsort(composition->rows, composition->count, sizeof(*composition->rows), by_bytes);
}

static void make_rows(struct composition *composition, struct report *report,
		      const struct findings *device, struct moment *moment)
{
	const struct snapshot *snapshot = &report->snapshot;
	uint64_t sum = 0;

	composition->rows = memory_new(snapshot->site_count + snapshot->fresh_count,
				       sizeof(*composition->rows));
	for (size_t i = 0; i < snapshot->site_count + snapshot->fresh_count; i++) {
		const struct snapshot_site *site =
			i < snapshot->site_count ? &snapshot->sites[i]
						 : &snapshot->fresh[i - snapshot->site_count];
		uint64_t bytes = moment->bytes[site->item];

		if (!bytes || site->source != GPULEAK_SOURCE_TORCH ||
		    snapshot_device(snapshot, site) != device->device)
			continue;
		sum += bytes;
		add_site(composition, report, device, site, bytes);
	}
	join_rows(composition, &snapshot->names);
	composition->unattributed = composition->total > sum ? composition->total - sum : 0;
	free(moment->bytes);
}

void composition_of_peak(struct composition *composition, struct report *report,
			 const struct findings *device)
{
	const struct snapshot *snapshot = &report->snapshot;
	size_t end = open_peak(device, snapshot);
	struct moment moment;

	*composition = (struct composition){.open = end > 0};
	if (end) {
		for_each_site(&moment, device, snapshot, live_bytes);
		composition->total = replay(&moment, device, snapshot, end);
		composition->step = snapshot->steps + 1;
	} else {
		for_each_site(&moment, device, snapshot, site_bytes_at_peak);
		composition->total = device->device->at.peak;
		composition->step = device->device->at.peak_step;
	}
	make_rows(composition, report, device, &moment);
}

void composition_of_oom(struct composition *composition, struct report *report,
			const struct findings *device, uint64_t allocated)
{
	const struct snapshot *snapshot = &report->snapshot;
	struct moment moment;

	*composition =
		(struct composition){.open = true, .total = allocated, .step = snapshot->steps + 1};
	for_each_site(&moment, device, snapshot, live_bytes);
	replay(&moment, device, snapshot, last_oom(device, snapshot));
	make_rows(composition, report, device, &moment);
}

void composition_release(struct composition *composition)
{
	free(composition->rows);
	*composition = (struct composition){0};
}
