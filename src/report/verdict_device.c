/*
 * The verdict on a device: the gravest of its sites' and of what no site can show.
 */
#include "report/verdict.h"

#include <math.h>
#include <string.h>

#include "report/verdict_constants.h"
#include "report/verdict_parts.h"
#include "report/verdict_pool.h"

static const struct {
	const char *name;
	const char *lower;
} names[VERDICT_COUNT] = {
	[VERDICT_SHORT] = {"SHORT", "short"},
	[VERDICT_STABLE] = {"STABLE", "stable"},
	[VERDICT_NOISY] = {"NOISY", "noisy"},
	[VERDICT_PLATEAU] = {"PLATEAU", "plateau"},
	[VERDICT_SAWTOOTH] = {"SAWTOOTH", "sawtooth"},
	[VERDICT_JUMP] = {"JUMP", "jump"},
	[VERDICT_WORKLOAD] = {"WORKLOAD", "workload"},
	[VERDICT_HOST] = {"HOST", "host"},
	[VERDICT_DRIVER] = {"DRIVER", "driver"},
	[VERDICT_FRAGMENTATION] = {"FRAGMENTATION", "fragmentation"},
	[VERDICT_GROWING] = {"GROWING", "growing"},
	[VERDICT_LEAK] = {"LEAK", "leak"},
};

const char *verdict_name(enum verdict label)
{
	return (unsigned)label < VERDICT_COUNT ? names[label].name : "UNKNOWN";
}

const char *verdict_lower_name(enum verdict label)
{
	return (unsigned)label < VERDICT_COUNT ? names[label].lower : "unknown";
}

bool verdict_by_name(const char *lower_name, enum verdict *label)
{
	for (unsigned i = 0; i < VERDICT_COUNT; i++) {
		if (strcmp(lower_name, names[i].lower) == 0) {
			*label = (enum verdict)i;
			return true;
		}
	}
	return false;
}

void verdict_site_bound(struct verdict_site *site, uint64_t buffer, uint64_t bound)
{
	site->label = VERDICT_PLATEAU;
	site->reason = VERDICT_REASON_BOUNDED;
	site->bound_unknown = false;
	site->buffer_bytes = buffer;
	site->bound_bytes = bound;
	site->bytes_per_step = 0;
	site->bytes_per_step_spread = 0;
	site->round_bytes = 0;
	site->confidence = 0;
	site->steps_missing = 0;
}

void verdict_site_copied(struct verdict_site *site)
{
	if (site->reason != VERDICT_REASON_BASELINE)
		return;
	site->label = VERDICT_JUMP;
	site->reason = VERDICT_REASON_LOADED;
	site->kept_blocks = site->blocks;
	site->kept_bytes = site->bytes;
}

static uint64_t add_u64(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* How much a site counts among those of its label. */
static double weight_of(const struct verdict_site *site)
{
	switch (site->label) {
	case VERDICT_LEAK:
	case VERDICT_GROWING:
		return site->bytes_per_step;
	case VERDICT_JUMP:
		return (double)site->kept_bytes;
	case VERDICT_SAWTOOTH:
	case VERDICT_NOISY:
		return (double)site->swing;
	default:
		return (double)site->bytes;
	}
}

/* What the sites of each label come to. */
struct sums {
	size_t heaviest[VERDICT_COUNT]; /* VERDICT_NO_SITE: none */
	double heaviest_weight[VERDICT_COUNT];
	double weight[VERDICT_COUNT];
	double spread[VERDICT_COUNT]; /* of the rates, squares added */
	double round[VERDICT_COUNT];  /* bytes that may come at once */
	double confidence[VERDICT_COUNT];
	bool bound_known[VERDICT_COUNT];
};

static void sums_add(struct sums *sums, const struct verdict_site *site, size_t index)
{
	enum verdict label = site->label;
	double weight = weight_of(site);

	if (sums->heaviest[label] == VERDICT_NO_SITE || weight > sums->heaviest_weight[label]) {
		sums->heaviest[label] = index;
		sums->heaviest_weight[label] = weight;
	}
	sums->weight[label] += weight;
	sums->spread[label] += site->bytes_per_step_spread * site->bytes_per_step_spread;
	sums->round[label] += site->round_bytes;
	sums->confidence[label] = fmax(sums->confidence[label], site->confidence);
	if (!site->bound_unknown)
		sums->bound_known[label] = true;
}

static void collect(struct verdict_device *device, struct sums *sums,
		    const struct verdict_device_input *input)
{
	*sums = (struct sums){0};
	for (unsigned i = 0; i < VERDICT_COUNT; i++)
		sums->heaviest[i] = VERDICT_NO_SITE;
	for (size_t i = 0; i < input->site_count; i++) {
		const struct verdict_site *site = &input->sites[i];

		if (site->suppressed || site->pooled)
			continue;
		device->counts[site->label]++;
		sums_add(sums, site, i);
		if (site->oldest_age > device->oldest_age)
			device->oldest_age = site->oldest_age;
		if (site->label == VERDICT_JUMP || site->label == VERDICT_PLATEAU)
			device->stayed_bytes = add_u64(device->stayed_bytes,
						       (uint64_t)fmin(weight_of(site), 0x1p63));
	}
	if (device->pool.label == VERDICT_LEAK)
		sums_add(sums, &device->pool, VERDICT_NO_SITE);
}

/* Reserve that no peak explains, and that still grows. */
static bool is_fragmented(const struct verdict_device *device)
{
	const struct verdict_timeline *timeline = &device->timeline;
	double growth = timeline->stranded_last - timeline->stranded_first;

	return growth > fmax(FRAGMENT_SHARE * (double)timeline->reserved, FRAGMENT_BYTES) &&
	       timeline->stranded_last - timeline->stranded_late > FRAGMENT_LATE * growth;
}

/* Throughout, not in one leap. */
static bool demand_grows(const struct verdict_device *device)
{
	const struct verdict_timeline *timeline = &device->timeline;
	double growth = timeline->demand_last - timeline->demand_first;

	return timeline->demand_tau >= DEMAND_TAU && timeline->demand_growth >= DEMAND_GROWTH &&
	       growth >= (double)device->threshold &&
	       timeline->demand_middle - timeline->demand_first >= DEMAND_PART * growth &&
	       timeline->demand_last - timeline->demand_middle >= DEMAND_PART * growth;
}

/*
 * A workload that grows has no use for the segments that it has outgrown, each larger than the one
 * before.  So much of the reserve is what it leaves behind; then its growth is what to tell.
 */
static bool is_outgrown(const struct verdict_device *device)
{
	const struct verdict_timeline *timeline = &device->timeline;

	double growth = timeline->stranded_last - timeline->stranded_first;
	bool more = timeline->stranded_last - timeline->stranded_late >= FRAGMENT_MORE * growth;

	return demand_grows(device) &&
	       growth <= (more ? FRAGMENT_STEEP : FRAGMENT_GROWN) * timeline->peak_growth;
}

static bool demand_varies(const struct verdict_device *device)
{
	const struct verdict_timeline *timeline = &device->timeline;

	return timeline->demand_swing >=
	       fmax((double)device->threshold, DEMAND_NOISE * (double)timeline->peak);
}

/* The gravest label that something stands for. */
static enum verdict label_of(const struct verdict_device *device, const struct sums *sums)
{
	double threshold = (double)device->threshold;

	if (device->counts[VERDICT_LEAK] || device->pool.label == VERDICT_LEAK)
		return VERDICT_LEAK;
	if (device->counts[VERDICT_GROWING])
		return VERDICT_GROWING;
	if (is_fragmented(device) && !is_outgrown(device))
		return VERDICT_FRAGMENTATION;
	if (demand_grows(device) || sums->weight[VERDICT_WORKLOAD] > threshold)
		return VERDICT_WORKLOAD;
	if (sums->weight[VERDICT_JUMP] > threshold)
		return VERDICT_JUMP;
	if (sums->heaviest_weight[VERDICT_SAWTOOTH] > threshold)
		return VERDICT_SAWTOOTH;
	if (sums->weight[VERDICT_PLATEAU] > threshold)
		return VERDICT_PLATEAU;
	if (sums->heaviest_weight[VERDICT_NOISY] > threshold || demand_varies(device))
		return VERDICT_NOISY;
	return VERDICT_STABLE;
}

static void set_rate(struct verdict_device *device, const struct sums *sums)
{
	double spread = sqrt(sums->spread[device->label]);

	device->bytes_per_step = sums->weight[device->label];
	device->bytes_per_step_low = fmax(device->bytes_per_step - spread, 0);
	device->bytes_per_step_high = device->bytes_per_step + spread;
	device->confidence = sums->confidence[device->label];
	device->bound_unknown = !sums->bound_known[device->label];
}

/* The step at which `left` bytes are used up; 0: never, for all one can tell. */
static uint64_t full_at(uint64_t now, double left, double rate)
{
	double steps = rate > 0 ? left / rate : INFINITY;

	return steps < 0x1p53 ? now + (uint64_t)steps : 0;
}

/*
 * What comes at once doesn't come a moment before, nor after; and PyTorch's allocator takes a
 * segment when the last one is full.
 */
static void forecast(struct verdict_device *device, const struct verdict_device_input *input,
		     double round)
{
	uint64_t used = add_u64(input->peak, input->others);
	double left = (double)input->capacity - (double)used;

	if (input->capacity == 0 || left < 0)
		return;
	device->full_at_step = full_at(device->now, left, device->bytes_per_step);
	if (device->full_at_step == 0)
		return;
	device->full_at_step_low = full_at(device->now, fmax(left - round - FORECAST_SEGMENT, 0),
					   device->bytes_per_step_high);
	device->full_at_step_high = full_at(device->now, left + round, device->bytes_per_step_low);
	device->full_in_seconds =
		(double)(device->full_at_step - device->now) * device->timeline.seconds_per_step;
}

static void name(struct verdict_device *device, const struct sums *sums,
		 const struct verdict_device_input *input)
{
	enum verdict label = device->label;

	device->site = sums->heaviest[label];
	if (device->site != VERDICT_NO_SITE)
		device->named = input->sites[device->site];
	else if (label == VERDICT_LEAK)
		device->named = device->pool;
	if (label == VERDICT_JUMP || label == VERDICT_PLATEAU)
		device->named_bytes = (uint64_t)fmin(sums->weight[label], 0x1p63);
	if (label == VERDICT_SAWTOOTH || label == VERDICT_NOISY)
		device->named_bytes = (uint64_t)fmin(sums->heaviest_weight[label], 0x1p63);
	if ((label == VERDICT_FRAGMENTATION || label == VERDICT_WORKLOAD) && is_fragmented(device))
		device->stranded = (uint64_t)fmin(fmax(device->timeline.stranded_last, 0), 0x1p63);
	if (label == VERDICT_SAWTOOTH && input->capacity)
		device->reaches_ceiling = add_u64(add_u64(input->peak, input->others),
						  device->named_bytes) > input->capacity;
}

void verdict_device(struct verdict_device *device, const struct verdict_device_input *input)
{
	int64_t now = input->now < (uint64_t)STEP_MAX ? (int64_t)input->now : STEP_MAX;
	struct sums sums;

	memset(device, 0, sizeof(*device));
	device->now = (uint32_t)now;
	device->site = VERDICT_NO_SITE;
	device->timeline = *input->timeline;
	device->longest_period = device->now / PERIODS_IN_RUN;
	device->threshold = (uint64_t)fmin(NAMED_BYTES, NAMED_SHARE * (double)input->peak);
	if (now < VERDICT_MARKS_MIN) {
		device->label = VERDICT_SHORT;
		device->marks_missing = (uint32_t)(VERDICT_MARKS_MIN - now);
	} else {
		verdict_pool(&device->pool, input->sites, input->site_count, now);
	}
	collect(device, &sums, input);
	if (now < VERDICT_MARKS_MIN)
		return;
	device->label = label_of(device, &sums);
	name(device, &sums, input);
	if (device->label == VERDICT_LEAK || device->label == VERDICT_GROWING)
		set_rate(device, &sums);
	if (device->label == VERDICT_LEAK)
		forecast(device, input, sums.round[VERDICT_LEAK]);
}
