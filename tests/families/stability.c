/*
 * The verdict of a run doesn't hang on where it was cut, nor on how its steps were
 * counted; and rates are right.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "suites.h"

/* What was said at a mark on the way. */
struct cut {
	uint32_t step;
	enum verdict device;
	enum verdict label[WORLD_SITES];
	double survivors[WORLD_SITES]; /* blocks alive that were born up to `step` */
	double bytes[WORLD_SITES];     /* alive */
};

struct run {
	struct cut cuts[LEDGER_CUTS + 1]; /* the last one: the end */
	uint32_t count;
	struct verdict_site sites[WORLD_SITES];
	struct verdict_device device;
	uint32_t marks;
};

/* Blocks alive that were born in ranges that end by `step`. */
static double born_by(const struct ledger *ledger, uint32_t site, uint32_t step)
{
	const struct gpuleak_evidence_version *evidence = ledger->sites[site].evidence;
	double blocks = 0;

	for (uint32_t i = 0; evidence && i < evidence->birth_count; i++)
		if ((uint64_t)evidence->births[i].bucket << evidence->birth_shift <= step)
			blocks += evidence->births[i].count;
	return blocks;
}

static void note_cut(void *context, const struct ledger *ledger)
{
	struct run *run = context;
	struct cut *cut = &run->cuts[run->count++];

	ledger_judge(ledger, run->sites, &run->device);
	cut->step = ledger->mark;
	cut->device = run->device.label;
	for (uint32_t i = 0; i < WORLD_SITES; i++) {
		cut->label[i] = run->sites[i].pooled ? VERDICT_LEAK : run->sites[i].label;
		cut->survivors[i] = born_by(ledger, i, ledger->mark);
		cut->bytes[i] = (double)ledger->sites[i].version.live_bytes;
	}
}

static uint32_t changes; /* stacks that were a leak at a cut and are none at the end */

/* Why a stack that was a leak at `cut` needn't be one now. */
static bool explained(const struct run *run, const struct cut *cut, const struct ledger *ledger,
		      uint32_t site)
{
	const struct verdict_site *now = &run->sites[site];

	if (now->pooled || now->label == VERDICT_LEAK)
		return true;
	changes++;
	if (now->since > 0)
		return true; /* stopped or slowed, and it says since when */
	return born_by(ledger, site, cut->step) < 0.95 * cut->survivors[site];
}

static bool cuts_agree(const struct run *run, const struct ledger *ledger)
{
	for (uint32_t c = 0; c + 1 < run->count; c++)
		for (uint32_t i = 0; i < WORLD_SITES; i++)
			if (run->cuts[c].label[i] == VERDICT_LEAK &&
			    !explained(run, &run->cuts[c], ledger, i))
				return false;
	return true;
}

/* Plays one trace; `marks` as in struct ledger. */
static void play(struct run *run, struct ledger *ledger, struct world *world, uint64_t seed,
		 uint32_t steps, const struct part *part, uint32_t marks)
{
	struct sink sink;

	memset(run, 0, sizeof(*run));
	ledger_init(ledger);
	ledger->marks_per_step = marks;
	ledger->cuts[0] = steps / 2;
	ledger->cuts[1] = steps - steps / 4;
	ledger->at_cut = note_cut;
	ledger->cut_context = run;
	sink = ledger_sink(ledger);
	world_init(world, seed, steps, &sink);
	background_any(world);
	part->add(world);
	world_run(world);
	note_cut(run, ledger);
	run->marks = ledger->mark;
}

static uint32_t check_cuts(const struct part *part, uint64_t seed, uint32_t steps, bool verbose)
{
	static struct world world;
	static struct ledger ledger;
	static struct run run;
	char sentence[VERDICT_SENTENCE];
	bool good;

	play(&run, &ledger, &world, seed, steps, part, 1);
	good = cuts_agree(&run, &ledger);
	verdict_device_sentence(&run.device, sentence, sizeof(sentence));
	if (!good && verbose)
		printf("%s, %u steps: at half %s, at three quarters %s, at the end %s: %s\n",
		       part->name, steps, verdict_name(run.cuts[0].device),
		       verdict_name(run.cuts[1].device), verdict_name(run.cuts[2].device),
		       sentence);
	world_release(&world);
	ledger_release(&ledger);
	return !good;
}

/* The same run with two marks a step, and with one every second step. */
static uint32_t check_marks(const struct part *part, uint64_t seed, uint32_t steps, bool verbose)
{
	static struct world world;
	static struct ledger ledger;
	static struct run run;
	static const uint32_t marks[3] = {1, 2, 0};
	double rate[3], spread[3];
	enum verdict label[3];

	for (int i = 0; i < 3; i++) {
		play(&run, &ledger, &world, seed, steps, part, marks[i]);
		label[i] = run.device.label;
		rate[i] = run.device.bytes_per_step * run.marks / steps;
		spread[i] = run.device.bytes_per_step_high * run.marks / steps - rate[i];
		world_release(&world);
		ledger_release(&ledger);
	}
	if (label[1] == label[0] && label[2] == label[0] &&
	    fabs(rate[1] - rate[0]) <= 0.01 * rate[0] + spread[0] + spread[1] &&
	    fabs(rate[2] - rate[0]) <= 0.01 * rate[0] + spread[0] + spread[2])
		return 0;
	if (verbose)
		printf("%s, %u steps: %s %.0f B; two marks a step: %s %.0f B; every second step: "
		       "%s %.0f B\n",
		       part->name, steps, verdict_name(label[0]), rate[0], verdict_name(label[1]),
		       rate[1], verdict_name(label[2]), rate[2]);
	return 1;
}

static uint32_t each(const struct part *parts, const struct seeds *seeds, double longer,
		     uint32_t (*check)(const struct part *, uint64_t, uint32_t, bool), bool verbose)
{
	uint32_t failures = 0;

	for (const struct part *part = parts; part->name; part++) {
		if (seeds->only && !strstr(part->name, seeds->only))
			continue;
		for (uint64_t i = seeds->first; i < seeds->first + seeds->count; i++) {
			uint64_t seed = trace_seed("stability", part->name, i);
			uint32_t least = (uint32_t)(longer * part->least);

			failures += check(part, seed, trace_steps(seed, least, 5000), verbose);
		}
	}
	return failures;
}

/* Leaks of whole stacks, at one rate all the time: what is alive is what leaked. */
static bool is_plain(const struct part *part)
{
	static const char *const plain[] = {"each-step", "under-noise", "per-epoch", "many-blocks",
					    "two",	 "alternating", "rare"};

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (strcmp(part->name, plain[i]) == 0)
			return true;
	return false;
}

/* Within 1 %, or a round at either end of the second half. */
static uint32_t check_rate(const struct part *part, uint64_t seed, uint32_t steps, bool verbose)
{
	static struct world world;
	static struct ledger ledger;
	static struct run run;
	double bytes = 0, round = 0, span = steps - steps / 2;

	if (!is_plain(part))
		return 0;
	play(&run, &ledger, &world, seed, steps, part, 1);
	for (uint32_t i = 0; i < world.sites; i++) {
		const struct gpuleak_site_version *version = &ledger.sites[i].version;

		if (!world.leaks[i])
			continue;
		bytes += run.cuts[run.count - 1].bytes[i] - run.cuts[0].bytes[i];
		round += (double)version->live_bytes / version->rounds;
	}
	world_release(&world);
	ledger_release(&ledger);
	if (fabs(run.device.bytes_per_step - bytes / span) <= 0.01 * bytes / span + round / span)
		return 0;
	if (verbose)
		printf("%s, %u steps: %.1f B a step, true are %.1f %s\n", part->name, steps,
		       run.device.bytes_per_step, bytes / span, ({
			       static char b[512];
			       verdict_device_sentence(&run.device, b, 512);
			       b;
		       }));
	return 1;
}

uint32_t suite_rates(const struct seeds *seeds, bool verbose)
{
	uint32_t failures = each(leak_parts, seeds, 1, check_rate, verbose);

	printf("rates of plain leaks: %u differ by more than 1 %%\n", failures);
	return failures;
}

uint32_t suite_stability(const struct seeds *seeds, bool verbose)
{
	uint32_t failures = each(leak_parts, seeds, 1, check_cuts, verbose);

	failures += each(bounded_parts, seeds, 1, check_cuts, verbose);
	failures += each(unclear_parts, seeds, 1, check_cuts, verbose);
	printf("cut at half and three quarters: of %u verdicts that went from LEAK to less %u are "
	       "unexplained\n",
	       changes, failures);
	return failures;
}

uint32_t suite_marks(const struct seeds *seeds, bool verbose)
{
	uint32_t failures = each(leak_parts, seeds, 3, check_marks, verbose);

	printf("two marks a step, a mark every second step: %u differ\n", failures);
	return failures;
}
