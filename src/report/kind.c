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

enum kind kind_of(const struct finding *finding, const struct snapshot *snapshot)
{
	uint8_t flags = finding->site->flags;

	if (finding->site->source != GPULEAK_SOURCE_TORCH || (flags & GPULEAK_SITE_OVERFLOW))
		return KIND_UNKNOWN;
	if (flags & GPULEAK_SITE_OPTIMIZER)
		return is_kept_once(finding) ? KIND_OPTIMIZER_STATE : KIND_UNKNOWN;
	if ((flags & GPULEAK_SITE_BACKWARD) || finding->place.buckets)
		return finding->label == VERDICT_JUMP &&
				       in_parameters(finding, snapshot) < gradients_max
			       ? KIND_GRADIENT
			       : KIND_UNKNOWN;
	if (finding->place.parameters && is_kept_once(finding))
		return KIND_PARAMETER;
	return finding->place.forward ? KIND_ACTIVATION : KIND_UNKNOWN;
}

const char *kind_name(enum kind kind)
{
	static const char *const names[] = {"unknown", "parameter", "gradient", "optimizer state",
					    "activation"};

	return names[kind];
}

bool kind_is_normal(enum kind kind)
{
	return kind == KIND_PARAMETER || kind == KIND_GRADIENT || kind == KIND_OPTIMIZER_STATE;
}

double kind_in_parameters(const struct finding *finding, const struct snapshot *snapshot)
{
	double times = in_parameters(finding, snapshot);

	return finding->label == VERDICT_JUMP && times <= parameters_most ? times : 0;
}
