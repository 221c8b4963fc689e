#include "report/occasion.h"

#include "report/kind.h"

static bool as_large_as_the_model(const struct finding *finding, const struct snapshot *snapshot)
{
	double parameters = kind_in_parameters(finding, snapshot);

	return parameters > 0.9 && parameters < 1.1;
}

/* In as many blocks, too: with buffers a few more. */
static bool is_like_the_model(const struct finding *finding, const struct snapshot *snapshot)
{
	uint64_t count = snapshot->mark.parameters_count;

	return as_large_as_the_model(finding, snapshot) && count > 1 && finding->blocks >= count &&
	       finding->blocks <= 2 * count;
}

/* What it kept is of the first time that it came there. */
static bool is_first_time(const struct finding *finding)
{
	const struct verdict_site *verdict = finding->verdict;

	return verdict->birth_count == 1 &&
	       verdict->births[0].first == finding->site->at.first_step;
}

static const char *text_of_frames(const struct finding *finding, const struct snapshot *snapshot)
{
	uint32_t occasions = finding->place.occasions;

	if (occasions & PLACE_AVERAGED)
		return "averaged weights";
	if (occasions & PLACE_COPIED)
		return as_large_as_the_model(finding, snapshot)
			       ? "a copy of the model, such as an EMA or the best so far"
			       : "a copy by deepcopy()";
	if (occasions & PLACE_LOADED)
		return "a checkpoint that was loaded, and is kept";
	if (occasions & PLACE_CAPTURED)
		return "of a CUDA graph";
	if (occasions & PLACE_CACHED)
		return "a key-value cache";
	if (occasions & PLACE_VALIDATING)
		return is_first_time(finding) ? "kept by the first validation"
					      : "kept by a validation";
	if (is_like_the_model(finding, snapshot))
		return "in as many blocks as the model, such as a checkpoint or an average of it";
	return NULL;
}

/* At the start, later, or both. */
enum when {
	WHEN_FIRST = 0,
	WHEN_LATER = 1,
	WHEN_BOTH = 2,
};

static enum when when_born(const struct finding *finding)
{
	if (finding->first_step > 1)
		return WHEN_LATER;
	return finding->verdict->birth_count > 1 ? WHEN_BOTH : WHEN_FIRST;
}

const char *occasion_text(const struct finding *finding, const struct snapshot *snapshot)
{
	static const char *const states[] = {
		"made by the first optimizer step",
		"made for parameters that joined: unfreezing, another optimizer",
		"made by the first optimizer step, and later for parameters that joined",
	};
	static const char *const gradients[] = {
		"of the first backward pass",
		"of the first backward pass through parameters that joined",
		"of the first backward pass, and later of parameters that joined",
	};

	if (finding->label != VERDICT_JUMP)
		return NULL;
	switch (kind_of(finding, snapshot)) {
	case KIND_OPTIMIZER_STATE:
		return states[when_born(finding)];
	case KIND_GRADIENT:
		return gradients[when_born(finding)];
	case KIND_WORKSPACE:
		return "cuBLAS's, made once for each thread and stream";
	default:
		return text_of_frames(finding, snapshot);
	}
}
