/*
 * Sites that are of one line: the same line of the user's, the same function of PyTorch's that
 * allocates below it, called by the same functions of the user's.  Where these call each other
 * once more in each epoch, or from another line, the line has one site after the other.
 */
#include <stdlib.h>

#include "report/findings.h"
#include "report/memory.h"

enum {
	NEIGHBOURS = 64, /* looked at for a line */
	FINISHED = 16,	 /* stacks of a line, the latest */
};

/* By slot, open addressing: the last site of each line so far, from 1. */
struct lines {
	uint32_t *last; /* owned */
	size_t mask;
};

static void lines_init(struct lines *lines, size_t sites)
{
	size_t size = 16;

	while (size < sites * 2)
		size *= 2;
	*lines = (struct lines){memory_new(size, sizeof(*lines->last)), size - 1};
}

static bool same_line(const struct findings *findings, const struct names *names, size_t a,
		      size_t b)
{
	const struct snapshot_site *first = findings->origins[a], *second = findings->origins[b];
	const struct place *one = &findings->places[a], *other = &findings->places[b];

	return first->source == second->source && first->flags == second->flags &&
	       one->functions == other->functions &&
	       place_frames_same(names, one->where, other->where) &&
	       place_frames_same(names, one->inner, other->inner);
}

/*
 * The slot of the site's line, or a free one; NULL where neither is near: names made to collide
 * cost a line, not the time.
 */
static uint32_t *find_line(const struct lines *lines, const struct findings *findings,
			   const struct names *names, size_t i)
{
	const struct place *place = &findings->places[i];
	uint64_t hash = place_frame_hash(names, place->where) +
			31 * place_frame_hash(names, place->inner) + place->functions;
	size_t slot = (size_t)((hash * 0x9e3779b97f4a7c15ull) >> 20) & lines->mask;

	for (unsigned looked = 0; looked < NEIGHBOURS; looked++) {
		if (!lines->last[slot] || same_line(findings, names, i, lines->last[slot] - 1))
			return &lines->last[slot];
		slot = (slot + 1) & lines->mask;
	}
	return NULL;
}

void findings_link_lines(struct findings *findings, const struct names *names)
{
	struct lines lines;

	lines_init(&lines, findings->site_count);
	for (size_t i = 0; i < findings->site_count; i++) {
		uint32_t *last =
			findings->places[i].user ? find_line(&lines, findings, names, i) : NULL;

		findings->sites[i].line_begins = last && !*last;
		findings->sites[i].line_next = 0;
		if (!last)
			continue;
		if (*last)
			findings->sites[*last - 1].line_next = (uint32_t)i + 1;
		*last = (uint32_t)i + 1;
	}
	free(lines.last);
}

/* Held memory for some steps, and has none any more. */
static bool is_finished(const struct findings *findings, size_t i)
{
	const struct verdict_site *site = &findings->sites[i];

	return !site->blocks && site->frees && site->release_known && site->release_age;
}

/* Of rounds that came one after the other, and so far none was given back. */
static bool may_be_unfinished(const struct verdict_site *site)
{
	return (site->label == VERDICT_LEAK || site->label == VERDICT_GROWING) &&
	       site->reason != VERDICT_REASON_SWELLING && site->reason != VERDICT_REASON_BACKLOG;
}

/* The oldest age at which one that had finished when this site began gave back. */
static uint32_t release_before(const struct findings *findings, size_t i, const uint32_t *finished)
{
	const struct gpuleak_site_version *at = &findings->origins[i]->at;
	uint32_t age = 0;

	for (unsigned k = 0; k < FINISHED && finished[k]; k++) {
		const struct gpuleak_site_version *before = &findings->origins[finished[k] - 1]->at;
		uint32_t release = findings->sites[finished[k] - 1].release_age;

		if (before->first_step < at->first_step &&
		    before->last_step <= at->first_step + 1 && release > age)
			age = release;
	}
	return age;
}

static void look_at_line(const struct findings *findings, size_t first, struct findings_hint *hints)
{
	uint32_t finished[FINISHED] = {0}; /* from 1 */
	unsigned next = 0;

	for (size_t i = first + 1; i; i = findings->sites[i - 1].line_next) {
		if (is_finished(findings, i - 1))
			finished[next++ % FINISHED] = (uint32_t)i;
		else if (may_be_unfinished(&findings->sites[i - 1]))
			hints[i - 1].line_release = release_before(findings, i - 1, finished);
	}
}

void findings_line_releases(struct findings *findings, const struct names *names,
			    struct findings_hint *hints)
{
	findings_link_lines(findings, names);
	for (size_t i = 0; i < findings->site_count; i++)
		if (findings->sites[i].line_begins)
			look_at_line(findings, i, hints);
}
