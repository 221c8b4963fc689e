#include "report/findings.h"

#include <stdlib.h>
#include <string.h>

#include "report/company.h"
#include "report/memory.h"

uint64_t site_bytes_at_peak(const struct snapshot_site *site, const struct snapshot_device *device)
{
	uint32_t epoch = site->source == GPULEAK_SOURCE_CUDART ? device->at.outside_epoch
							       : device->at.peak_epoch;

	return site->at.peak_epoch == epoch ? site->at.peak_bytes : site->at.live_bytes;
}

/* True of a site that holds or held memory across a mark. */
static bool site_holds(const struct snapshot_site *site)
{
	return site->at.evidence || site->at.live_bytes || site->at.live_blocks;
}

static bool is_segment(const struct snapshot_site *site)
{
	return site->flags & GPULEAK_SITE_SEGMENT;
}

/*
 * Collect the device's sites, PyTorch's segments last: what those hold is what the
 * other sites hold, and a verdict on them would be one on the same memory again.
 */
static void collect_sites(struct findings *findings, const struct snapshot *snapshot, bool all)
{
	size_t count = 0;

	findings->origins = memory_new(snapshot->site_count, sizeof(const struct snapshot_site *));
	for (int segments = 0; segments < 2; segments++) {
		for (size_t i = 0; i < snapshot->site_count; i++) {
			const struct snapshot_site *site = &snapshot->sites[i];

			if (snapshot_device(snapshot, site) != findings->device ||
			    is_segment(site) != segments)
				continue;
			if (all || (site_holds(site) && !segments))
				findings->origins[count++] = site;
			else
				findings->quiet += !segments;
		}
		if (!segments)
			findings->site_count = count;
	}
	findings->segment_count = count - findings->site_count;
}

static void judge_site(struct findings *findings, const struct snapshot *snapshot,
		       const struct company *company, size_t i, const struct findings_hint *hint)
{
	verdict_site(&findings->sites[i],
		     &(struct verdict_site_input){
			     .now = snapshot->steps,
			     .version = &findings->origins[i]->at,
			     .evidence = snapshot_evidence(snapshot, findings->origins[i]),
			     .teeth = snapshot_teeth(snapshot, findings->origins[i]),
			     .collections = snapshot->run.flags & GPULEAK_RUN_COLLECTIONS,
			     .timeline = &findings->timeline,
			     .company = company->growths,
			     .company_count = company->count,
			     .line_release = hint->line_release,
			     .joined = hint->joined,
		     });
}

static void judge_sites(struct findings *findings, const struct snapshot *snapshot,
			const struct company *company)
{
	size_t count = findings->site_count + findings->segment_count;

	findings->sites = memory_new(count, sizeof(*findings->sites));
	for (size_t i = 0; i < count; i++)
		judge_site(findings, snapshot, company, i, &(struct findings_hint){0});
}

/* With what other sites tell: none of it is known before all were looked at. */
static void judge_again(struct findings *findings, const struct snapshot *snapshot,
			const struct company *company)
{
	struct findings_hint *hints = memory_new(findings->site_count, sizeof(*hints));

	findings_line_releases(findings, &snapshot->names, hints);
	findings_joined(findings, snapshot, hints);
	for (size_t i = 0; i < findings->site_count; i++)
		if (hints[i].line_release || hints[i].joined)
			judge_site(findings, snapshot, company, i, &hints[i]);
	free(hints);
	findings_link_lines(findings, &snapshot->names);
}

static void judge_device(struct findings *findings, const struct snapshot *snapshot)
{
	const struct snapshot_device *device = findings->device;

	verdict_device(&findings->verdict, &(struct verdict_device_input){
						   .now = snapshot->steps,
						   .peak = device->at.peak,
						   .capacity = device->capacity,
						   .others = device->at.outside,
						   .timeline = &findings->timeline,
						   .sites = findings->sites,
						   .site_count = findings->site_count,
					   });
}

static void place_sites(struct findings *findings, struct code_map *map)
{
	size_t count = findings->site_count + findings->segment_count;

	findings->places = memory_new(count, sizeof(*findings->places));
	for (size_t i = 0; i < count; i++) {
		const struct snapshot_site *site = findings->origins[i];
		struct stack stack;
		bool sound = names_stack(&map->snapshot->names, site->stack, &stack);

		if (site->flags & GPULEAK_SITE_OVERFLOW)
			continue;
		place_of_stack(&findings->places[i], map, &stack);
		if (!sound || findings->places[i].damaged)
			findings->damaged++;
	}
}

/* What was loaded only for being copied, and is still held, is worth a word. */
static void judge_copied(struct findings *findings)
{
	for (size_t i = 0; i < findings->site_count; i++)
		if (findings->origins[i]->flags & GPULEAK_SITE_COPIED &&
		    findings->places[i].occasions & PLACE_LOADED)
			verdict_site_copied(&findings->sites[i]);
}

/* No frames of Python's, or PyTorch's alone; and nobody is known who called backward(). */
static bool is_nameless(const struct snapshot_site *site, const struct place *place)
{
	bool autograd = (site->flags & GPULEAK_SITE_BACKWARD) && !place->python;

	return (autograd || place->torch_alone) && !place->called;
}

void findings_lend_line(const struct findings *findings, const struct snapshot_site *site,
			struct place *place)
{
	if (findings->backward && is_nameless(site, place))
		place->where = findings->backward;
}

/* The line that called backward(), when all sites of the device agree on one; else NULL. */
static const struct gpuleak_frame *backward_line(const struct findings *findings,
						 struct code_map *map)
{
	const struct snapshot *snapshot = map->snapshot;
	const struct gpuleak_frame *line = NULL;

	for (size_t i = 0; i < snapshot->site_count; i++) {
		const struct snapshot_site *site = &snapshot->sites[i];
		struct place place;
		struct stack stack;

		if (snapshot_device(snapshot, site) != findings->device ||
		    !names_stack(&snapshot->names, site->stack, &stack))
			continue;
		place_of_stack(&place, map, &stack);
		if (line && place.backward &&
		    !place_frames_same(&snapshot->names, line, place.backward))
			return NULL;
		if (place.backward)
			line = place.backward;
	}
	return line;
}

/*
 * Threads of autograd have no Python frames.  Where the trace doesn't say who called
 * backward(), what they allocate is put down to the one line that does.
 */
static void place_backward(struct findings *findings, struct code_map *map)
{
	bool looked = false;

	for (size_t i = 0; i < findings->site_count; i++) {
		if (!is_nameless(findings->origins[i], &findings->places[i]))
			continue;
		if (!looked)
			findings->backward = backward_line(findings, map);
		looked = true;
		findings_lend_line(findings, findings->origins[i], &findings->places[i]);
	}
}

struct group_key {
	const struct gpuleak_frame *where;
	enum verdict label;
	uint32_t birth; /* of a JUMP: those of different steps are different findings */
	uint8_t source;
	bool segment;
	bool workspace;
	bool pooled;
	uint64_t callers; /* of a leak: two callers of one helper are two of them */
	const struct rule *rule;
};

/* Small ones, of a cache that fills, are one finding. */
static bool is_large_jump(const struct findings *findings, const struct verdict_site *site)
{
	return site->label == VERDICT_JUMP && site->bytes >= findings->verdict.threshold;
}

/* The pool that stands for the site, when one does. */
static const struct verdict_site *pool_of(const struct findings *findings, size_t i)
{
	if (findings->pooled[i])
		return &findings->verdict.pool;
	return findings->hidden[i] ? &findings->hidden_pool : NULL;
}

static struct group_key group_key(const struct findings *findings, size_t i)
{
	const struct verdict_site *site = &findings->sites[i];
	const struct verdict_site *pool = pool_of(findings, i);
	bool pooled = findings->pooled[i];
	bool grows = site->label == VERDICT_LEAK || site->label == VERDICT_GROWING;

	return (struct group_key){
		.where = pooled && findings->pool_is_one ? NULL : findings->places[i].where,
		.label = pool ? pool->label : site->label,
		.birth = !pool && is_large_jump(findings, site) ? site->first_step : 0,
		.source = findings->origins[i]->source,
		.segment = is_segment(findings->origins[i]),
		.workspace = findings->origins[i]->flags & GPULEAK_SITE_WORKSPACE,
		.pooled = pooled,
		.callers = !pool && grows ? findings->places[i].callers : 0,
		.rule = findings->rules[i],
	};
}

static bool same_group(const struct names *names, const struct group_key *a,
		       const struct group_key *b)
{
	return a->label == b->label && a->birth == b->birth && a->source == b->source &&
	       a->segment == b->segment && a->workspace == b->workspace && a->pooled == b->pooled &&
	       a->callers == b->callers && a->rule == b->rule &&
	       place_frames_same(names, a->where, b->where);
}

static void add_operation(struct finding *finding, struct text operation)
{
	for (unsigned i = 0; i < FINDING_OPERATIONS; i++) {
		if (!finding->operations[i].size)
			finding->operations[i] = operation;
		if (text_same(finding->operations[i], operation))
			return;
	}
}

/*
 * How well a site stands for its finding: by bytes.  In a pool of stacks that have nothing in
 * common the largest may be what a start leaves behind, which was only caught with them; the
 * latest one shows that it goes on.
 */
static uint64_t weight_of(const struct findings *findings, size_t i)
{
	bool one_pool = findings->pooled[i] && findings->pool_is_one;

	return one_pool ? findings->sites[i].first_step : findings->sites[i].bytes;
}

static void finding_add(struct finding *finding, const struct findings *findings, size_t i)
{
	const struct verdict_site *site = &findings->sites[i];
	const struct verdict_site *pool = pool_of(findings, i);
	uint64_t pool_bytes = findings->pooled[i] ? findings->pool_bytes : findings->hidden_bytes;
	double rate = site->bytes_per_step;

	if (pool)
		rate = pool->bytes_per_step * (double)site->bytes / (double)pool_bytes;
	add_operation(finding, findings->places[i].operation);
	if (!finding->parts || weight_of(findings, i) > finding->weight) {
		finding->site = findings->origins[i];
		finding->verdict = pool ? pool : site;
		finding->place = findings->places[i];
		finding->weight = weight_of(findings, i);
	}
	if (!finding->parts || site->first_step < finding->first_step)
		finding->first_step = site->first_step;
	if (site->last_step > finding->last_step)
		finding->last_step = site->last_step;
	finding->parts++;
	finding->bytes += site->bytes;
	finding->blocks += site->blocks;
	finding->peak_bytes += site_bytes_at_peak(findings->origins[i], findings->device);
	finding->bytes_per_step += rate;
}

/* A power of two, at least twice as many as there are sites. */
static size_t table_size(size_t sites)
{
	size_t size = 16;

	while (size < sites * 2)
		size *= 2;
	return size;
}

struct groups {
	uint32_t *table;  /* owned: group + 1, by slot */
	uint32_t *member; /* owned: a site of each group */
	size_t mask;
	uint32_t count;
};

static void groups_init(struct groups *groups, size_t sites)
{
	size_t size = table_size(sites);

	*groups = (struct groups){
		.table = memory_new(size, sizeof(*groups->table)),
		.member = memory_new(sites, sizeof(*groups->member)),
		.mask = size - 1,
	};
}

static void groups_release(struct groups *groups)
{
	free(groups->table);
	free(groups->member);
}

/*
 * The slot of the table where the group of a site is or belongs.  Looks at a few
 * neighbours only: names made to collide cost a group, not the time.
 */
static size_t find_slot(const struct findings *findings, const struct names *names,
			const struct group_key *key, const struct groups *groups)
{
	uint64_t hash = place_frame_hash(names, key->where) ^ (key->label + 31ull * key->birth) ^
			key->callers;
	size_t slot = (size_t)((hash * 0x9e3779b97f4a7c15ull) >> 20) & groups->mask;
	unsigned compared = 0;

	for (; groups->table[slot] && compared < 64; compared++) {
		struct group_key other =
			group_key(findings, groups->member[groups->table[slot] - 1]);

		if (same_group(names, key, &other))
			return slot;
		slot = (slot + 1) & groups->mask;
	}
	while (groups->table[slot])
		slot = (slot + 1) & groups->mask;
	return slot;
}

/* The number of the group that site `i` belongs to, a new one where there is none. */
static uint32_t groups_find(struct groups *groups, const struct findings *findings,
			    const struct names *names, size_t i)
{
	struct group_key key = group_key(findings, i);
	size_t slot = find_slot(findings, names, &key, groups);

	if (!groups->table[slot]) {
		groups->member[groups->count] = (uint32_t)i;
		groups->table[slot] = ++groups->count;
	}
	return groups->table[slot] - 1;
}

/*
 * A pool is many stacks that kept memory once each.  A line with many of them is
 * a finding; one that has few beside such a line, the optimizer's say, was only
 * caught with it.  Where no line has many, they are one finding.
 */
static void choose_pooled(struct findings *findings, const struct names *names)
{
	const uint32_t many = 4; /* stacks */
	uint32_t *sizes = memory_new(findings->site_count, sizeof(*sizes));
	struct groups groups;
	bool any = false;

	groups_init(&groups, findings->site_count);
	for (size_t i = 0; i < findings->site_count; i++)
		findings->pooled[i] = findings->sites[i].pooled;
	for (size_t i = 0; i < findings->site_count; i++)
		if (findings->pooled[i])
			any |= ++sizes[groups_find(&groups, findings, names, i)] >= many;
	for (size_t i = 0; any && i < findings->site_count; i++)
		if (findings->pooled[i])
			findings->places[i].few =
				sizes[groups_find(&groups, findings, names, i)] < many;
	for (size_t i = 0; i < findings->site_count; i++) {
		findings->pooled[i] &= !findings->places[i].few;
		findings->pool_bytes += findings->pooled[i] ? findings->sites[i].bytes : 0;
	}
	findings->pool_is_one = !any;
	groups_release(&groups);
	free(sizes);
}

static void group_sites(struct findings *findings, const struct names *names)
{
	size_t count = findings->site_count + findings->segment_count;
	struct groups groups;

	groups_init(&groups, count);
	findings->items = memory_new(count, sizeof(*findings->items));
	for (size_t i = 0; i < count; i++) {
		struct finding *finding =
			&findings->items[groups_find(&groups, findings, names, i)];

		finding->label = group_key(findings, i).label;
		finding->rule = findings->rules[i];
		finding_add(finding, findings, i);
	}
	findings->count = groups.count;
	groups_release(&groups);
}

static int descending(double a, double b)
{
	return (a < b) - (a > b);
}

static int by_gravity(const void *first, const void *second)
{
	const struct finding *a = first;
	const struct finding *b = second;

	if (finding_suppressed(a) != finding_suppressed(b))
		return finding_suppressed(a) ? 1 : -1;
	if (is_segment(a->site) != is_segment(b->site)) /* the same memory again */
		return is_segment(a->site) ? 1 : -1;
	if (a->label != b->label)
		return descending(a->label, b->label);
	if (a->bytes_per_step != b->bytes_per_step)
		return descending(a->bytes_per_step, b->bytes_per_step);
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	return a->site->item < b->site->item ? -1 : 1;
}

/* The rules need the lines, and the device's verdict needs the rules. */
static void judge(struct findings *findings, struct code_map *map, struct rules_matcher *matcher)
{
	size_t count = findings->site_count + findings->segment_count;
	struct company company;

	company_init(&company, map->snapshot, findings->device);
	judge_sites(findings, map->snapshot, &company);
	place_sites(findings, map);
	judge_copied(findings);
	place_backward(findings, map);
	judge_again(findings, map->snapshot, &company);
	company_release(&company);
	findings->rules = memory_new(count, sizeof(struct rule *));
	findings->hidden = memory_new(count, sizeof(*findings->hidden));
	findings_apply_rules(findings, matcher);
	judge_device(findings, map->snapshot);
	if (findings_hide_pooled(findings, matcher))
		judge_device(findings, map->snapshot);
}

void findings_init(struct findings *findings, struct code_map *map, struct rules_matcher *matcher,
		   const struct snapshot_device *device, bool all)
{
	const struct snapshot *snapshot = map->snapshot;

	*findings = (struct findings){.device = device};
	verdict_timeline(&findings->timeline, device->timeline, device->timeline_count);
	collect_sites(findings, snapshot, all);
	judge(findings, map, matcher);
	findings->pooled = memory_new(findings->site_count + findings->segment_count,
				      sizeof(*findings->pooled));
	choose_pooled(findings, &snapshot->names);
	group_sites(findings, &snapshot->names);
	qsort(findings->items, findings->count, sizeof(*findings->items), by_gravity);
}

void findings_release(struct findings *findings)
{
	free(findings->sites);
	free(findings->origins);
	free(findings->places);
	free(findings->pooled);
	free(findings->rules);
	free(findings->hidden);
	free(findings->items);
	*findings = (struct findings){0};
}
