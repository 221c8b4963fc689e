/* The evidence in a sentence that a person can check. */
#include <stdarg.h>
#include <stdio.h>

#include "report/verdict.h"

/* A sentence under way.  `length` goes on where the buffer ends, as snprintf()'s. */
struct text {
	char *buffer; /* borrowed */
	size_t size;
	size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
	size_t left = text->length < text->size ? text->size - text->length : 0;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(left ? text->buffer + text->length : NULL, left, format, arguments);
	va_end(arguments);
	if (length > 0)
		text->length += (size_t)length;
}

static void add_number(struct text *text, uint64_t count)
{
	char number[32];

	add(text, "%s", verdict_count_text(count, number, sizeof(number)));
}

/* "1 step", "1,963 steps" */
static void add_count(struct text *text, uint64_t count, const char *one, const char *many)
{
	add_number(text, count);
	add(text, " %s", count == 1 ? one : many);
}

static void add_size(struct text *text, double bytes)
{
	char number[32];

	add(text, "%s", verdict_size_text(bytes, number, sizeof(number)));
}

/* "step 7", "steps 128 to 255" */
static void add_steps(struct text *text, uint32_t first, uint32_t last)
{
	add(text, first == last ? "step " : "steps ");
	add_number(text, first);
	if (first == last)
		return;
	add(text, " to ");
	add_number(text, last);
}

/* What became of the site's other blocks. */
static void add_others(struct text *text, const struct verdict_site *site)
{
	if (site->frees == 0) {
		add(text, ", none ever freed");
	} else if (!site->release_known) {
		add(text, "; other blocks of this site are seldom freed");
	} else if (site->release_age == 0) {
		add(text, "; other blocks of this site are freed within their step");
	} else {
		add(text, "; other blocks of this site are freed at age <= ");
		add_number(text, site->release_age);
	}
}

/* "each of 16 stretches of 128 steps", "14 of 16 steps" */
static void add_stretches(struct text *text, const struct verdict_rounds *rounds)
{
	if (rounds->kept == rounds->of) {
		add(text, "each of ");
	} else {
		add_number(text, rounds->kept);
		add(text, " of ");
	}
	if (rounds->width == 1) {
		add_count(text, rounds->of, "step", "steps");
		return;
	}
	add_count(text, rounds->of, "stretch", "stretches");
	add(text, " of ");
	add_count(text, rounds->width, "step", "steps");
}

/* Of a site that never freed anything: "411 of 411 rounds kept" */
static void add_kept(struct text *text, const struct verdict_rounds *rounds)
{
	if (rounds->kept < rounds->of) {
		add(text, "survivors born in ");
		add_stretches(text, rounds);
		return;
	}
	add_number(text, rounds->kept);
	add(text, " of ");
	add_count(text, rounds->of, "round", "rounds");
	add(text, " kept");
}

static void add_rounds(struct text *text, const struct verdict_site *site)
{
	const struct verdict_rounds *rounds = &site->rounds;

	if (site->period_steps > 1) {
		add_count(text, rounds->kept, "round", "rounds");
		add(text, " kept, once in ");
		add_count(text, site->period_steps, "step", "steps");
	} else if (site->frees == 0) {
		add_kept(text, rounds);
	} else {
		add(text, "survivors born in ");
		add_stretches(text, rounds);
	}
	add_others(text, site);
}

static void add_missing(struct text *text, const struct verdict_site *site)
{
	add_rounds(text, site);
	if (site->steps_missing == 0)
		return;
	add(text, "; a verdict needs about ");
	add_count(text, site->steps_missing, "more step", "more steps");
}

static void add_slowing(struct text *text, const struct verdict_site *site)
{
	add(text, "the late half of the births that stay is %.0f %% of the early half, since step ",
	    100 * site->late_ratio);
	add_number(text, site->since);
}

static void add_births(struct text *text, const struct verdict_site *site)
{
	add(text, "born in ");
	if (site->rounds.kept > VERDICT_BIRTHS) {
		add_count(text, site->rounds.kept, "step",
			  site->rounds.width == 1 ? "steps" : "stretches");
		add(text, " from ");
		add_steps(text, site->first_step, site->first_step);
		add(text, " to ");
		add_steps(text, site->last_step, site->last_step);
		return;
	}
	for (uint32_t i = 0; i < site->birth_count && i < VERDICT_BIRTHS; i++) {
		const struct verdict_birth *birth = &site->births[i];

		if (i)
			add(text, i + 1 < site->birth_count ? ", " : " and ");
		add_steps(text, birth->first, birth->last);
		if (site->birth_count == 1)
			break;
		add(text, " (");
		add_size(text, (double)birth->bytes);
		add(text, ")");
	}
	add(text, " only");
}

static void add_oldest(struct text *text, const struct verdict_site *site)
{
	add(text, "no block older than ");
	add_count(text, site->oldest_age, "step", "steps");
}

static void add_range(struct text *text, const struct verdict_site *site)
{
	add(text, "between ");
	add_size(text, (double)site->lowest);
	add(text, " and ");
	add_size(text, (double)site->highest);
	add(text, " at the marks");
}

/* " and is released every 20 steps", "... every 13 to 21 steps" */
static void add_period(struct text *text, const struct verdict_site *site)
{
	add(text, " and is released every ");
	if (site->longest_tooth - site->shortest_tooth > 1) {
		add_number(text, site->shortest_tooth);
		add(text, " to ");
		add_count(text, site->longest_tooth, "step", "steps");
	} else if (site->period_steps > 1) {
		add_count(text, site->period_steps, "step", "steps");
	} else {
		add(text, "step");
	}
}

static void add_released(struct text *text, const struct verdict_site *site)
{
	add(text, "accumulates");
	if (site->period_steps) {
		add_period(text, site);
	} else if (site->release_known) {
		add(text, " for up to ");
		add_count(text, site->release_age, "step", "steps");
		add(text, ", then released");
	}
	add(text, "; teeth of up to ");
	add_size(text, (double)site->swing);
	add(text, ", ");
	add_range(text, site);
	if (site->freed_by == VERDICT_FREER_COLLECTOR)
		add(text, "; Python's gc frees it");
	else if (site->freed_by == VERDICT_FREER_BOTH)
		add(text, "; Python's gc frees a part of it");
}

static void add_stopped(struct text *text, const struct verdict_site *site)
{
	add(text, "stopped growing ");
	add_count(text, site->now > site->since ? site->now - site->since : 0, "step", "steps");
	add(text, " ago, in step ");
	add_number(text, site->since);
}

static void add_renewed(struct text *text, const struct verdict_site *site)
{
	add(text, "renewed in ");
	add_steps(text, site->births[0].first, site->births[0].last);
	add(text, "; what it held before was given back");
}

static void add_swelling(struct text *text, const struct verdict_site *site)
{
	add(text, "replaced by larger ones again and again: x %.1f (demand of the steps x %.1f), ",
	    site->swell_factor, site->demand_factor);
	add_size(text, (double)site->swell_bytes);
	add(text, " in ");
	add_count(text, site->swell_steps, "step", "steps");
}

static void add_backlog(struct text *text, const struct verdict_site *site)
{
	add(text, "ever more blocks at once, each freed later than those before: ");
	add_size(text, (double)site->swell_bytes);
	add(text, " in ");
	add_count(text, site->swell_steps, "step", "steps");
}

static void add_pool(struct text *text, const struct verdict_site *site)
{
	add_count(text, site->parts, "call stack", "call stacks");
	add(text, ", each of which kept memory once or twice, in ");
	add_stretches(text, &site->rounds);
}

static void add_relay(struct text *text, const struct verdict_site *site)
{
	add_count(text, site->parts, "call stack", "call stacks");
	add(text, ", one after the other, kept memory in ");
	add_stretches(text, &site->rounds);
}

static void add_nothing(struct text *text, const struct verdict_site *site)
{
	(void)site;
	add(text, "keeps nothing from one step to the next");
}

static void add_baseline(struct text *text, const struct verdict_site *site)
{
	(void)site;
	add(text, "all it holds was there before step 1");
}

static void add_loaded(struct text *text, const struct verdict_site *site)
{
	(void)site;
	add(text, "all of it was there before step 1, and was copied elsewhere then");
}

static void add_varies(struct text *text, const struct verdict_site *site)
{
	add_range(text, site);
	add(text, ", ");
	add_oldest(text, site);
}

static void add_replaced(struct text *text, const struct verdict_site *site)
{
	add(text, "filled by step ");
	add_number(text, site->since);
	add(text, ", since then replaced one for one");
}

static void add_bounded(struct text *text, const struct verdict_site *site)
{
	add(text, "still filling: ");
	add_size(text, (double)site->buffer_bytes);
	add(text, " of at most ");
	add_size(text, (double)site->bound_bytes);
}

static void add_demand(struct text *text, const struct verdict_site *site)
{
	add(text, "grew x %.1f as the demand of the steps did, x %.1f", site->swell_factor,
	    site->demand_factor);
}

static void add_company(struct text *text, const struct verdict_site *site)
{
	add(text, "grew x %.1f as the blocks of ", site->swell_factor);
	add_number(text, site->company_grew);
	add(text, " of ");
	add_count(text, site->company_of, "call stack", "call stacks");
	add(text, " did that keep nothing");
}

static void add_traded(struct text *text, const struct verdict_site *site)
{
	add(text, "grew x %.1f while others shrank as much: the least that is allocated stays",
	    site->swell_factor);
}

static void (*const sentences[VERDICT_REASON_COUNT])(struct text *, const struct verdict_site *) = {
	[VERDICT_REASON_NOTHING_KEPT] = add_nothing, [VERDICT_REASON_BASELINE] = add_baseline,
	[VERDICT_REASON_FLAT] = add_oldest,	     [VERDICT_REASON_VARIES] = add_varies,
	[VERDICT_REASON_RELEASED] = add_released,    [VERDICT_REASON_REPLACED] = add_replaced,
	[VERDICT_REASON_RENEWED] = add_renewed,	     [VERDICT_REASON_STOPPED] = add_stopped,
	[VERDICT_REASON_FADED] = add_slowing,	     [VERDICT_REASON_SLOWING] = add_slowing,
	[VERDICT_REASON_ONCE] = add_births,	     [VERDICT_REASON_SEVERAL] = add_births,
	[VERDICT_REASON_DEMAND] = add_demand,	     [VERDICT_REASON_EVEN] = add_missing,
	[VERDICT_REASON_IRREGULAR] = add_missing,    [VERDICT_REASON_YOUNG] = add_missing,
	[VERDICT_REASON_SWELLING] = add_swelling,    [VERDICT_REASON_BACKLOG] = add_backlog,
	[VERDICT_REASON_ROUNDS] = add_rounds,	     [VERDICT_REASON_POOL] = add_pool,
	[VERDICT_REASON_BOUNDED] = add_bounded,	     [VERDICT_REASON_TRADED] = add_traded,
	[VERDICT_REASON_LOADED] = add_loaded,	     [VERDICT_REASON_COMPANY] = add_company,
	[VERDICT_REASON_RELAY] = add_relay,
};

static void add_site(struct text *text, const struct verdict_site *site)
{
	sentences[site->reason](text, site);
}

static struct text text_begin(char *buffer, size_t size)
{
	if (size)
		buffer[0] = '\0';
	return (struct text){.buffer = buffer, .size = size};
}

size_t verdict_site_sentence(const struct verdict_site *site, char *buffer, size_t size)
{
	struct text text = text_begin(buffer, size);

	add_site(&text, site);
	return text.length;
}

/* "3 findings, the fastest: ..." */
static void add_fastest(struct text *text, const struct verdict_device *device)
{
	uint32_t count = device->counts[device->label];

	if (device->label == VERDICT_LEAK && device->pool.label == VERDICT_LEAK)
		count++;
	if (count > 1) {
		add_count(text, count, "finding", "findings");
		add(text, ", the fastest: ");
	}
	add_site(text, &device->named);
}

static void add_fragmentation(struct text *text, const struct verdict_device *device)
{
	add_size(text, (double)device->stranded);
	add(text, " reserved above what the peak needs, ");
	add_size(text, device->timeline.stranded_last - device->timeline.stranded_first);
	add(text, " of it since the first quarter");
}

static void add_workload(struct text *text, const struct verdict_device *device)
{
	const struct verdict_timeline *timeline = &device->timeline;

	if (timeline->demand_growth <= 1) {
		add_site(text, &device->named);
		return;
	}
	add(text, "what a step needs rose from ");
	add_size(text, timeline->demand_first);
	add(text, " to ");
	add_size(text, timeline->demand_last);
	add(text, "; it is given back in each step");
	if (!device->stranded)
		return;
	add(text, ", but ");
	add_size(text, (double)device->stranded);
	add(text, " stay reserved above what the peak needs");
}

static void add_largest(struct text *text, const struct verdict_device *device)
{
	uint32_t count = device->counts[device->label];

	if (count > 1) {
		add_size(text, (double)device->named_bytes);
		add(text, " of ");
		add_count(text, count, "site", "sites");
		add(text, ", the largest: ");
	}
	add_site(text, &device->named);
}

static void add_stable(struct text *text, const struct verdict_device *device)
{
	if (device->stayed_bytes) {
		add(text, "what stayed, ");
		add_size(text, (double)device->stayed_bytes);
		add(text, ", is too little to matter");
	} else if (device->oldest_age == 0) {
		add(text, "no site kept a block from one step to the next");
	} else {
		add(text, "no site kept a block older than ");
		add_count(text, device->oldest_age, "step", "steps");
	}
}

static void add_short(struct text *text, const struct verdict_device *device)
{
	add_count(text, device->now, "step", "steps");
	add(text, " seen; a verdict needs ");
	add_count(text, device->marks_missing, "more", "more");
}

static void add_device(struct text *text, const struct verdict_device *device)
{
	switch (device->label) {
	case VERDICT_SHORT:
		add_short(text, device);
		break;
	case VERDICT_LEAK:
	case VERDICT_GROWING:
		add_fastest(text, device);
		break;
	case VERDICT_FRAGMENTATION:
		add_fragmentation(text, device);
		break;
	case VERDICT_WORKLOAD:
		add_workload(text, device);
		break;
	case VERDICT_JUMP:
	case VERDICT_PLATEAU:
		add_largest(text, device);
		break;
	case VERDICT_SAWTOOTH:
		add_site(text, &device->named);
		break;
	case VERDICT_NOISY:
		if (device->site != VERDICT_NO_SITE)
			add_site(text, &device->named);
		else
			add(text, "what a step needs varies, nothing of it stays");
		break;
	default:
		add_stable(text, device);
		break;
	}
}

size_t verdict_device_sentence(const struct verdict_device *device, char *buffer, size_t size)
{
	struct text text = text_begin(buffer, size);

	add_device(&text, device);
	return text.length;
}
