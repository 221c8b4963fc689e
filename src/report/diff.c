#include "report/diff.h"

#include <stdlib.h>
#include <string.h>

#include "report/baseline.h"
#include "report/memory.h"

static bool grows(const struct finding *finding)
{
	return finding && (finding->label == VERDICT_LEAK || finding->label == VERDICT_GROWING);
}

/* What comes and goes in every training is no change, nor what holds other findings. */
static bool is_news(const struct finding *finding)
{
	return finding && finding->label >= VERDICT_JUMP &&
	       !(finding->site->flags & GPULEAK_SITE_SEGMENT);
}

static const struct findings *device_of(const struct report *report, uint32_t number)
{
	for (size_t i = 0; i < report->device_count; i++)
		if (report->devices[i].device->device == number)
			return &report->devices[i];
	return NULL;
}

static void sizes_at(struct diff_sizes *sizes, const struct findings *findings, uint64_t step)
{
	const struct snapshot_device *device = findings->device;

	*sizes = (struct diff_sizes){0};
	for (size_t i = 0; i < device->timeline_count; i++) {
		const struct gpuleak_timeline_entry *entry = &device->timeline[i];

		if (i && entry->last_step > step)
			break;
		sizes->allocated = entry->allocated;
		sizes->reserved = entry->reserved;
		if (entry->peak > sizes->peak)
			sizes->peak = entry->peak;
	}
}

static void add_change(struct diff_device *device, enum change_kind kind,
		       const struct finding *before, const struct finding *after)
{
	if (is_news(before) || is_news(after))
		device->items[device->count++] = (struct change){kind, before, after};
}

static enum change_kind kind_of_match(const struct finding *after)
{
	if (after->state == FINDING_FASTER)
		return CHANGE_MORE;
	return after->state == FINDING_SLOWER ? CHANGE_LESS : CHANGE_SAME;
}

/* One run only has the device: all of it is new, or gone. */
static void add_all(struct diff_device *device, const struct findings *findings, bool after)
{
	device->items = memory_new(findings->count, sizeof(*device->items));
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->items[i];

		add_change(device, after ? CHANGE_NEW : CHANGE_GONE, after ? NULL : finding,
			   after ? finding : NULL);
	}
}

/*
 * What has the same key and verdict is the same finding; then what has the same key.
 * Of those with another verdict the graver one says whether it is new or gone.
 */
static void compare(struct diff_device *device, struct report *before, struct report *after,
		    struct findings *later)
{
	struct baseline baseline = {0};

	device->items = memory_new(device->before->count + later->count, sizeof(*device->items));
	baseline_add_device(&baseline, before, device->before);
	baseline_settle(&baseline);
	baseline_compare_device(&baseline, after, later);
	for (size_t i = 0; i < later->count; i++) {
		const struct finding *finding = &later->items[i];
		const struct finding *earlier = finding->earlier;

		if (finding->state != FINDING_NEW)
			add_change(device, kind_of_match(finding), earlier, finding);
		else if (earlier && earlier->label > finding->label)
			add_change(device, CHANGE_GONE, earlier, finding);
		else
			add_change(device, CHANGE_NEW, earlier, finding);
	}
	for (size_t i = 0; i < baseline.count; i++)
		if (!baseline.entries[i].taken)
			add_change(device, CHANGE_GONE, baseline.entries[i].finding, NULL);
	baseline_release(&baseline);
}

static const struct finding *newest(const struct change *change)
{
	if (change->kind == CHANGE_GONE)
		return change->before;
	return change->after;
}

static int by_kind(const void *first, const void *second)
{
	const struct change *a = first;
	const struct change *b = second;
	const struct finding *one = newest(a), *other = newest(b);

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (one->label != other->label)
		return one->label > other->label ? -1 : 1;
	if (one->bytes_per_step != other->bytes_per_step)
		return one->bytes_per_step > other->bytes_per_step ? -1 : 1;
	if (one->bytes != other->bytes)
		return one->bytes > other->bytes ? -1 : 1;
	return one->site->item < other->site->item ? -1 : one->site->item > other->site->item;
}

static void add_device(struct diff *diff, uint32_t number)
{
	struct diff_device *device = &diff->devices[diff->device_count++];
	uint64_t steps = diff->before->snapshot.steps;

	*device = (struct diff_device){
		.device = number,
		.before = device_of(diff->before, number),
		.after = device_of(diff->after, number),
	};
	if (diff->after->snapshot.steps < steps)
		steps = diff->after->snapshot.steps;
	device->step = steps;
	if (device->before)
		sizes_at(&device->sizes_before, device->before, steps);
	if (device->after)
		sizes_at(&device->sizes_after, device->after, steps);
	if (device->before && device->after)
		compare(device, diff->before, diff->after,
			&diff->after->devices[device->after - diff->after->devices]);
	else
		add_all(device, device->after ? device->after : device->before, device->after);
	qsort(device->items, device->count, sizeof(*device->items), by_kind);
}

void diff_init(struct diff *diff, struct report *before, struct report *after)
{
	*diff = (struct diff){.before = before, .after = after};
	for (size_t i = 0; i < before->device_count; i++)
		if (device_of(before, before->devices[i].device->device) == &before->devices[i])
			add_device(diff, before->devices[i].device->device);
	for (size_t i = 0; i < after->device_count; i++)
		if (!device_of(before, after->devices[i].device->device) &&
		    device_of(after, after->devices[i].device->device) == &after->devices[i])
			add_device(diff, after->devices[i].device->device);
}

void diff_release(struct diff *diff)
{
	for (size_t i = 0; i < diff->device_count; i++)
		free(diff->devices[i].items);
	*diff = (struct diff){0};
}

const char *change_name(const struct change *change)
{
	static const char *const leaks[] = {"new", "faster", "fixed", "slower", "same"};
	static const char *const others[] = {"new", "larger", "gone", "smaller", "same"};

	return grows(newest(change)) ? leaks[change->kind] : others[change->kind];
}

size_t diff_count(const struct diff *diff, enum change_kind kind)
{
	size_t count = 0;

	for (size_t i = 0; i < diff->device_count; i++)
		for (size_t k = 0; k < diff->devices[i].count; k++)
			count += diff->devices[i].items[k].kind == kind;
	return count;
}

static bool change_fails(const struct change *change, uint32_t fail_on)
{
	return change->kind <= CHANGE_MORE && fail_on & 1u << change->after->label &&
	       !finding_suppressed(change->after);
}

/* A verdict that no call stack shows, and that the device did not have before. */
static bool device_fails(const struct diff_device *device, uint32_t fail_on)
{
	enum verdict label;

	if (!device->after)
		return false;
	label = device->after->verdict.label;
	return fail_on & 1u << label && !findings_explain(device->after) &&
	       !(device->before && device->before->verdict.label == label);
}

bool diff_fails(const struct diff *diff, const struct options *options)
{
	if (options->fail_on & 1u << VERDICT_HOST &&
	    report_host_label(diff->after) == VERDICT_HOST &&
	    report_host_label(diff->before) != VERDICT_HOST)
		return true;
	for (size_t i = 0; i < diff->device_count; i++) {
		const struct diff_device *device = &diff->devices[i];

		if (device_fails(device, options->fail_on))
			return true;
		for (size_t k = 0; k < device->count; k++)
			if (change_fails(&device->items[k], options->fail_on))
				return true;
	}
	return false;
}
