/*
 * Replays families of histories through the evidence and the verdict, and counts
 * what was found, what was cried over nothing and which stack was named.
 *
 *   families [--suite NAME]... [--seeds N] [--first N] [--held-out] [--only FAMILY]
 *            [--json FILE] [--verbose]
 *   families ... --count         how many traces of families, compositions and renewal these are
 *   families ... --events N      the N-th, from 1, as events for tests/programs/replay; on
 *                                standard error what is true of it
 *
 * Exits 1 when a goal is missed.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "suites.h"

/* Of the runs of one seed, one in two may be at the edge of another label when recounted. */
#define MARKS_DIFFER 0.5

struct options {
	const char *suite; /* NULL: all */
	const char *json;
	bool verbose;
	bool count;
	uint32_t events; /* the trace to write, from 1; 0: none */
	struct seeds seeds;
};

static int usage(void)
{
	fprintf(stderr, "usage: families [--suite families|compositions|renewal|stability|rates] "
			"[--seeds N] [--first N] [--held-out] [--only FAMILY] [--json FILE] "
			"[--verbose] [--count | --events N]\n");
	return 2;
}

static bool parse_one(struct options *options, const char *name, const char *value)
{
	if (strcmp(name, "--suite") == 0)
		options->suite = value;
	else if (strcmp(name, "--seeds") == 0)
		options->seeds.count = (uint32_t)strtoul(value, NULL, 10);
	else if (strcmp(name, "--first") == 0)
		options->seeds.first += strtoull(value, NULL, 10);
	else if (strcmp(name, "--only") == 0)
		options->seeds.only = value;
	else if (strcmp(name, "--events") == 0)
		options->events = (uint32_t)strtoul(value, NULL, 10);
	else if (strcmp(name, "--json") == 0)
		options->json = value;
	else
		return false;
	return true;
}

static bool parse(struct options *options, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--verbose") == 0)
			options->verbose = true;
		else if (strcmp(argv[i], "--count") == 0)
			options->count = true;
		else if (strcmp(argv[i], "--held-out") == 0)
			options->seeds.first += SEEDS_HELD_OUT;
		else if (i + 1 == argc || !parse_one(options, argv[i], argv[i + 1]))
			return false;
		else
			i++;
	}
	return true;
}

static bool wanted(const struct options *options, const char *suite)
{
	return !options->suite || strcmp(options->suite, suite) == 0;
}

static bool met(bool goal, const char *text)
{
	if (!goal)
		printf("MISSED: %s\n", text);
	return goal;
}

/* The goals of a suite; `alarms`: false alarms allowed, of 1000 traces without a leak. */
static bool suite_met(const struct scores *scores, const char *suite, double found, double alarms)
{
	struct score sum = scores_sum(scores, suite);
	bool good = true;

	scores_print(scores, suite);
	good &= met(sum.found >= found * sum.leaky, "leaks found");
	good &= met(1000.0 * sum.false_alarms <= alarms * (sum.traces - sum.leaky), "false alarms");
	good &= met(alarms > 0 || sum.wrong_site == 0, "wrong site");
	good &= met(sum.unsaid == 0, "`bound unknown` said");
	return good;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static bool write_json(const struct scores *scores, const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file) {
		perror(path);
		return false;
	}
	scores_json(scores, file);
	return fclose(file) == 0;
}

/* The traces that can be written as events: all that are judged by their end alone. */
static void play_all(struct scores *scores, const struct options *options, const struct seeds *many)
{
	if (wanted(options, "families"))
		suite_families(scores, &options->seeds);
	if (wanted(options, "compositions"))
		suite_compositions(scores, many);
	if (wanted(options, "renewal"))
		suite_renewal(scores, many);
}

static int write_events(struct scores *scores, const struct options *options,
			const struct seeds *many)
{
	struct events events = {.list = stdout, .truth = stderr};

	scores->events = &events;
	scores->wanted = options->events;
	play_all(scores, options, many);
	if (options->count)
		printf("%u\n", scores->played);
	return scores->wanted <= scores->played ? 0 : 2;
}

int main(int argc, char **argv)
{
	static struct scores scores;
	struct options options = {.seeds = {.first = 1, .count = 10}};
	struct seeds many;
	double start = seconds();
	bool good = true;

	if (!parse(&options, argc, argv))
		return usage();
	scores.verbose = options.verbose;
	many = options.seeds;
	many.count *= 20;
	if (options.count || options.events)
		return write_events(&scores, &options, &many);
	if (wanted(&options, "families")) {
		suite_families(&scores, &options.seeds);
		good &= suite_met(&scores, "families", 0.99, 0);
	}
	if (wanted(&options, "compositions")) {
		suite_compositions(&scores, &many);
		good &= suite_met(&scores, "compositions", 0.99, 3);
	}
	if (wanted(&options, "renewal")) {
		suite_renewal(&scores, &many);
		good &= suite_met(&scores, "renewal", 0.95, 3);
	}
	if (wanted(&options, "stability"))
		good &= met(suite_stability(&options.seeds, options.verbose) == 0, "stability");
	if (wanted(&options, "marks"))
		good &= met(suite_marks(&options.seeds, options.verbose) <=
				    options.seeds.count * MARKS_DIFFER,
			    "marks");
	if (wanted(&options, "rates"))
		good &= met(suite_rates(&options.seeds, options.verbose) == 0, "rates");
	if (options.json)
		good &= write_json(&scores, options.json);
	printf("%.1f s\n", seconds() - start);
	return good ? 0 : 1;
}
