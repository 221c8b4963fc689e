#include "report/kind.h"

/* There is one gradient a parameter; blocks are a little larger than what they hold. */
static const double gradients_max = 1.25;

/*
 * Known are the parameters of the first optimizer at its first step.  An optimizer's state is up to
 * six times their bytes (Adam's in 32 bits, with a copy of weights of 16); what is much more
 * belongs to parameters that came later.
 */
static const double parameters_most = 8;

/* Bytes, in units of the parameters'; 0: unknown. */
static double in_parameters(const struct finding *finding, const struct snapshot *snapshot)
{
	uint64_t parameters = snapshot->mark.parameters_bytes;

	return parameters ? (double)finding->bytes / (double)parameters : 0;
}

static bool is_kept_once(const struct finding *finding)
{
	return finding->label == VERDICT_JUMP || finding->label == VERDICT_PLATEAU ||
	       finding->label == VERDICT_STABLE;
}

/* Made once, before step 1 or later. */
static bool stays(const struct finding *finding)
{
	return finding->label == VERDICT_JUMP ||
	       (finding->label == VERDICT_STABLE && finding->verdict &&
		finding->verdict->reason == VERDICT_REASON_BASELINE);
}

/* From these on nine tenths of a site's blocks must have been filled by copies from the host. */
static const uint32_t inputs_least = 3;
static const double inputs_share = 0.9;

/*
 * Copied from the host in step after step.  What is loaded or built is so once: parameters,
 * buffers, a checkpoint.
 */
static bool is_input(const struct finding *finding)
{
	const struct gpuleak_site_version *at = &finding->site->at;

	return at->filled >= inputs_least &&
	       (double)at->filled >= inputs_share * (double)at->allocs &&
	       !(finding->place.occasions & (PLACE_LOADED | PLACE_COPIED | PLACE_WEIGHTS)) &&
	       !finding->place.parameters;
}

/* Full, since then replaced one for one; and it isn't known to be something else. */
static bool is_replaced(const struct finding *finding)
{
	return finding->label == VERDICT_PLATEAU && finding->verdict &&
	       finding->verdict->reason == VERDICT_REASON_REPLACED && !finding->place.occasions;
}

/* Of what no flag of the tracer's tells. */
static enum kind kind_by_use(const struct finding *finding)
{
	if (finding->place.parameters && is_kept_once(finding))
		return KIND_PARAMETER;
	if (is_input(finding))
		return KIND_INPUT;
	if (finding->place.occasions & PLACE_CACHED)
		return KIND_CACHE;
	if (finding->place.forward)
		return KIND_ACTIVATION;
	return is_replaced(finding) ? KIND_CACHE : KIND_UNKNOWN;
}

enum kind kind_of(const struct finding *finding, const struct snapshot *snapshot)
{
	uint8_t flags = finding->site->flags;

	if (finding->site->source != GPULEAK_SOURCE_TORCH || (flags & GPULEAK_SITE_OVERFLOW))
		return KIND_UNKNOWN;
	if ((flags & GPULEAK_SITE_WORKSPACE) || finding->place.workspace)
		return KIND_WORKSPACE;
	if (flags & GPULEAK_SITE_OPTIMIZER)
		return is_kept_once(finding) ? KIND_OPTIMIZER_STATE : KIND_UNKNOWN;
	if ((flags & GPULEAK_SITE_BACKWARD) || finding->place.buckets)
		return stays(finding) && in_parameters(finding, snapshot) < gradients_max
			       ? KIND_GRADIENT
			       : KIND_UNKNOWN;
	return kind_by_use(finding);
}

const char *kind_name(enum kind kind)
{
	static const char *const names[] = {"unknown",	       "parameter",  "gradient",
					    "optimizer state", "activation", "input",
					    "workspace",       "cache"};

	return names[kind];
}

bool kind_is_normal(enum kind kind)
{
	return kind == KIND_PARAMETER || kind == KIND_GRADIENT || kind == KIND_OPTIMIZER_STATE ||
	       kind == KIND_WORKSPACE;
}

double kind_in_parameters(const struct finding *finding, const struct snapshot *snapshot)
{
	double times = in_parameters(finding, snapshot);

	return finding->label == VERDICT_JUMP && times <= parameters_most ? times : 0;
}
