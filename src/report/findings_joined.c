/*
 * What parameters bring with them: the optimizer's state, and gradients that stay.  Where a layer
 * is unfrozen in each epoch it comes round after round, as what leaks does.  But there is a block
 * for each parameter, or two or three, as large as these: all that was ever made is in use.  What
 * an optimizer leaves behind that was replaced comes on top of that.
 */
#include "report/findings.h"

static const uint64_t rounding = 512; /* of PyTorch's allocator, for each block */

struct held {
	uint64_t blocks;
	uint64_t bytes;
	uint64_t of_one; /* blocks of the call stack that has most */
};

/* Not what cuBLAS works in, which backward passes allocate as well. */
static bool has_flag(const struct findings *findings, size_t i, uint8_t flag)
{
	const struct snapshot_site *site = findings->origins[i];

	return site->source == GPULEAK_SOURCE_TORCH && (site->flags & flag) &&
	       !(site->flags & GPULEAK_SITE_WORKSPACE) && !findings->places[i].workspace;
}

static struct held held_with(const struct findings *findings, uint8_t flag)
{
	struct held held = {0};

	for (size_t i = 0; i < findings->site_count; i++) {
		if (!has_flag(findings, i, flag))
			continue;
		held.blocks += findings->sites[i].blocks;
		held.bytes += findings->sites[i].bytes;
		if (findings->sites[i].blocks > held.of_one)
			held.of_one = findings->sites[i].blocks;
	}
	return held;
}

/* Each block as large as its parameter; or twice, in 32 bits beside parameters of 16. */
static bool as_large(const struct held *held, double parameters)
{
	double most = (double)rounding * (double)held->blocks;
	double bytes = (double)held->bytes;

	return (bytes >= parameters && bytes <= parameters + most) ||
	       (bytes >= 2 * parameters && bytes <= 2 * parameters + most);
}

/*
 * Up to so many blocks for each parameter, and nothing else.  Each is made by a line of its own:
 * more than one of one line are what optimizers have left behind.
 */
static bool is_in_use(const struct held *held, const struct gpuleak_mark_version *mark,
		      unsigned blocks_most)
{
	if (mark->parameters_count < 2 || held->of_one > mark->parameters_count)
		return false;
	for (unsigned each = 1; each <= blocks_most; each++)
		if (held->blocks == (uint64_t)each * mark->parameters_count)
			return as_large(held, each * (double)mark->parameters_bytes);
	return false;
}

static void note(const struct findings *findings, const struct snapshot *snapshot, uint8_t flag,
		 unsigned blocks_most, struct findings_hint *hints)
{
	struct held held = held_with(findings, flag);

	if (!is_in_use(&held, &snapshot->mark, blocks_most))
		return;
	for (size_t i = 0; i < findings->site_count; i++)
		if (has_flag(findings, i, flag) && (findings->sites[i].label == VERDICT_LEAK ||
						    findings->sites[i].label == VERDICT_GROWING))
			hints[i].joined = true;
}

void findings_joined(const struct findings *findings, const struct snapshot *snapshot,
		     struct findings_hint *hints)
{
	note(findings, snapshot, GPULEAK_SITE_OPTIMIZER, 3, hints);
	note(findings, snapshot, GPULEAK_SITE_BACKWARD, 1, hints);
}
