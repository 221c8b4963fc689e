/*
 * Teeth, as the tracer counted them: the period of a sawtooth, and whether it is Python's
 * garbage collection that frees what piles up.
 */
#include "report/verdict_constants.h"
#include "report/verdict_parts.h"

static uint32_t period_of(const struct gpuleak_teeth *teeth)
{
	uint32_t gaps = teeth->count - 1;
	uint64_t steps = teeth->last_step - teeth->first_step;

	return (uint32_t)((steps + gaps / 2) / gaps);
}

static bool is_sound(const struct gpuleak_teeth *teeth)
{
	return teeth->first_step < teeth->last_step && teeth->shortest &&
	       teeth->shortest <= teeth->longest &&
	       teeth->longest <= teeth->last_step - teeth->first_step;
}

/* Ripples beside a swing that hasn't come again say nothing of that. */
static void measure_period(struct verdict_site *site, const struct gpuleak_teeth *teeth,
			   const struct gpuleak_level *range)
{
	double swing = (double)range->max_blocks - range->min_blocks;

	if (teeth->count < SAWTOOTH_TEETH || teeth->tallest < SAWTOOTH_TALL * swing ||
	    !is_sound(teeth))
		return;
	site->period_steps = period_of(teeth);
	site->shortest_tooth = teeth->shortest;
	site->longest_tooth = teeth->longest;
}

static enum verdict_freer freer_of(double collected, double deaths)
{
	if (deaths == 0)
		return VERDICT_FREER_UNKNOWN;
	if (collected >= FREER_MOST * deaths)
		return VERDICT_FREER_COLLECTOR;
	return collected <= FREER_LEAST * deaths ? VERDICT_FREER_PROGRAM : VERDICT_FREER_BOTH;
}

void teeth_read(struct verdict_site *site, const struct verdict_site_input *input,
		const struct gpuleak_level *range)
{
	if (!input->teeth)
		return;
	if (site->label == VERDICT_SAWTOOTH)
		measure_period(site, input->teeth, range);
	if (input->collections)
		site->freed_by = freer_of(input->teeth->collected, release_count(input->evidence));
}
