/* What rules of --suppressions make of a device's sites. */
#include <stdlib.h>

#include "report/findings.h"
#include "report/memory.h"

/*
 * Whatever the events say of its bound: a site whose other blocks are freed within their
 * step may fill a buffer, too, with the one of each step that is kept.
 */
static bool may_be_buffer(const struct verdict_site *site)
{
	return site->label == VERDICT_LEAK || site->label == VERDICT_GROWING;
}

static struct rule *match(const struct findings *findings, struct rules_matcher *matcher,
			  enum verdict label, bool bounds, size_t i)
{
	return rules_match(matcher, label, bounds, findings->origins[i], &findings->places[i]);
}

/* A buffer is all that meets its rule, however many lines fill it. */
static void apply_bounds(struct findings *findings, struct rules_matcher *matcher)
{
	uint64_t *sums = memory_new(matcher->rules->count, sizeof(*sums));

	for (size_t i = 0; i < findings->site_count; i++) {
		const struct verdict_site *site = &findings->sites[i];
		uint64_t *sum;

		if (!may_be_buffer(site))
			continue;
		findings->rules[i] = match(findings, matcher, site->label, true, i);
		if (!findings->rules[i])
			continue;
		findings->rules[i]->used++;
		sum = &sums[findings->rules[i] - matcher->rules->items];
		*sum = *sum > UINT64_MAX - site->bytes ? UINT64_MAX : *sum + site->bytes;
	}
	for (size_t i = 0; i < findings->site_count; i++) {
		const struct rule *rule = findings->rules[i];

		if (rule && sums[rule - matcher->rules->items] <= rule->bound)
			verdict_site_bound(&findings->sites[i], sums[rule - matcher->rules->items],
					   rule->bound);
	}
	free(sums);
}

static void suppress(struct findings *findings, size_t i, struct rule *rule)
{
	findings->rules[i] = rule;
	findings->sites[i].suppressed = true;
	rule->used++;
}

void findings_apply_rules(struct findings *findings, struct rules_matcher *matcher)
{
	if (!matcher->rules)
		return;
	apply_bounds(findings, matcher);
	for (size_t i = 0; i < findings->site_count; i++) {
		const struct verdict_site *site = &findings->sites[i];
		struct rule *rule;

		if (site->label == VERDICT_STABLE || site->reason == VERDICT_REASON_BOUNDED)
			continue;
		rule = match(findings, matcher, site->label, false, i);
		if (rule)
			suppress(findings, i, rule);
	}
}

static uint64_t pooled_bytes(const struct findings *findings)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < findings->site_count; i++)
		bytes += findings->sites[i].pooled ? findings->sites[i].bytes : 0;
	return bytes;
}

bool findings_hide_pooled(struct findings *findings, struct rules_matcher *matcher)
{
	bool any = false;

	if (!matcher->rules || findings->verdict.pool.label != VERDICT_LEAK)
		return false;
	for (size_t i = 0; i < findings->site_count; i++) {
		struct rule *rule = NULL;

		if (findings->sites[i].pooled)
			rule = match(findings, matcher, VERDICT_LEAK, false, i);
		if (!rule)
			continue;
		suppress(findings, i, rule);
		findings->hidden[i] = true;
		any = true;
	}
	if (!any)
		return false;
	findings->hidden_pool = findings->verdict.pool;
	findings->hidden_bytes = pooled_bytes(findings);
	for (size_t i = 0; i < findings->site_count; i++)
		findings->sites[i].pooled = false;
	return true;
}

bool finding_suppressed(const struct finding *finding)
{
	return finding->rule && !finding->rule->bound;
}

bool findings_explain(const struct findings *findings)
{
	for (size_t i = 0; i < findings->count; i++)
		if (findings->items[i].label == findings->verdict.label &&
		    !finding_suppressed(&findings->items[i]))
			return true;
	return false;
}

bool finding_counts(const struct finding *finding)
{
	bool segment = finding->site->flags & GPULEAK_SITE_SEGMENT;

	return !segment && !finding_suppressed(finding) && finding->state != FINDING_KNOWN &&
	       finding->state != FINDING_SLOWER;
}

bool finding_passed_bound(const struct finding *finding)
{
	return finding->rule && finding->rule->bound &&
	       finding->verdict->reason != VERDICT_REASON_BOUNDED;
}
