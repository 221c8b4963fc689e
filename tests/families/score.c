#include "score.h"

#include <stdlib.h>
#include <string.h>

struct score *scores_of(struct scores *scores, const char *suite, const char *family)
{
	char name[sizeof(scores->score[0].name)];

	snprintf(name, sizeof(name), "%s/%s", suite, family);
	for (uint32_t i = 0; i < scores->count; i++)
		if (strcmp(scores->score[i].name, name) == 0)
			return &scores->score[i];
	if (scores->count == SCORES_MAX)
		abort();
	memcpy(scores->score[scores->count].name, name, sizeof(name));
	return &scores->score[scores->count++];
}

static bool said_leak(const struct verdict_site *site)
{
	return site->label == VERDICT_LEAK || site->pooled;
}

static void tell(const struct score *score, const struct world *world, uint64_t seed,
		 const struct verdict_site *sites, const struct verdict_device *device)
{
	char sentence[VERDICT_SENTENCE];

	verdict_device_sentence(device, sentence, sizeof(sentence));
	printf("%s seed %llu, %u steps: %s is %s: %s\n", score->name, (unsigned long long)seed,
	       world->steps, verdict_name(world->truth), verdict_name(device->label), sentence);
	for (uint32_t i = 0; i < world->sites; i++) {
		if (!world->leaks[i] && sites[i].label < VERDICT_GROWING && !sites[i].pooled)
			continue;
		verdict_site_sentence(&sites[i], sentence, sizeof(sentence));
		printf("    site %u%s %s: %s\n", i, world->leaks[i] ? " leaks," : "",
		       verdict_name(sites[i].label), sentence);
	}
}

/* Counts the trace; false when something about it is wrong. */
static bool count(struct score *score, const struct world *world, const struct verdict_site *sites,
		  const struct verdict_device *device)
{
	bool wrong_site = false, named = false, unsaid = false;
	bool leaky = world->truth == VERDICT_LEAK;
	bool said = device->label == VERDICT_LEAK;

	for (uint32_t i = 0; i < world->sites; i++) {
		score->sites += world->leaks[i];
		score->innocent_sites += !world->leaks[i];
		if (!said_leak(&sites[i]))
			continue;
		named |= world->leaks[i];
		score->sites_found += world->leaks[i];
		if (world->undecidable)
			unsaid |= !sites[i].bound_unknown && !sites[i].pooled;
		else
			wrong_site |= !world->leaks[i];
	}
	score->traces++;
	score->leaky += leaky;
	score->found += leaky && said && named;
	score->growing += leaky && device->label == VERDICT_GROWING;
	score->false_alarms += said && !leaky && !world->undecidable;
	score->wrong_site += wrong_site;
	score->unsaid += unsaid;
	score->confusion[world->truth][device->label]++;
	if (world->undecidable) {
		score->accepted += !unsaid;
		return !unsaid;
	}
	score->accepted += world->accepted >> device->label & 1;
	return !wrong_site && (world->accepted >> device->label & 1);
}

void score_add(struct scores *scores, struct score *score, const struct world *world,
	       const struct ledger *ledger, uint64_t seed)
{
	static struct verdict_site sites[WORLD_SITES];
	struct verdict_device device;

	ledger_judge(ledger, sites, &device);
	if (!count(score, world, sites, &device) && scores->verbose)
		tell(score, world, seed, sites, &device);
}

static void sum_up(struct score *sum, const struct score *one)
{
	sum->traces += one->traces;
	sum->leaky += one->leaky;
	sum->found += one->found;
	sum->growing += one->growing;
	sum->sites += one->sites;
	sum->sites_found += one->sites_found;
	sum->false_alarms += one->false_alarms;
	sum->wrong_site += one->wrong_site;
	sum->innocent_sites += one->innocent_sites;
	sum->unsaid += one->unsaid;
	sum->accepted += one->accepted;
	for (int i = 0; i < VERDICT_COUNT; i++)
		for (int j = 0; j < VERDICT_COUNT; j++)
			sum->confusion[i][j] += one->confusion[i][j];
}

struct score scores_sum(const struct scores *scores, const char *suite)
{
	struct score sum = {0};

	snprintf(sum.name, sizeof(sum.name), "%s", suite);
	for (uint32_t i = 0; i < scores->count; i++)
		if (strncmp(scores->score[i].name, suite, strlen(suite)) == 0)
			sum_up(&sum, &scores->score[i]);
	return sum;
}

static void print_line(const struct score *score)
{
	printf("%-34s %6u %6u %6u %6u %6u %6u %6u %6u\n", score->name, score->traces, score->leaky,
	       score->found, score->growing, score->false_alarms, score->wrong_site, score->unsaid,
	       score->accepted);
}

static void print_confusion(const struct score *score)
{
	printf("\n%-14s", "truth \\ said");
	for (int j = VERDICT_COUNT - 1; j >= 0; j--)
		printf(" %.6s", verdict_name((enum verdict)j));
	for (int i = VERDICT_COUNT - 1; i >= 0; i--) {
		uint32_t row = 0;

		for (int j = 0; j < VERDICT_COUNT; j++)
			row += score->confusion[i][j];
		if (!row)
			continue;
		printf("\n%-14s", verdict_name((enum verdict)i));
		for (int j = VERDICT_COUNT - 1; j >= 0; j--)
			printf(" %*u", (int)strnlen(verdict_name((enum verdict)j), 6),
			       score->confusion[i][j]);
	}
	printf("\n\n");
}

void scores_print(const struct scores *scores, const char *suite)
{
	struct score sum = scores_sum(scores, suite);

	if (sum.traces == 0)
		return;
	printf("%-34s %6s %6s %6s %6s %6s %6s %6s %6s\n", "", "traces", "leaky", "found", "growing",
	       "false", "wrong", "unsaid", "right");
	for (uint32_t i = 0; i < scores->count; i++)
		if (strncmp(scores->score[i].name, suite, strlen(suite)) == 0)
			print_line(&scores->score[i]);
	print_line(&sum);
	printf("recall %.2f %%, of stacks %.2f %%; false alarms %.2f %% of traces without a leak; "
	       "right label %.2f %%\n",
	       sum.leaky ? 100.0 * sum.found / sum.leaky : 100.0,
	       sum.sites ? 100.0 * sum.sites_found / sum.sites : 100.0,
	       sum.traces > sum.leaky ? 100.0 * sum.false_alarms / (sum.traces - sum.leaky) : 0.0,
	       100.0 * sum.accepted / sum.traces);
	print_confusion(&sum);
}

static void json_one(const struct score *score, FILE *file)
{
	fprintf(file,
		"{\"name\": \"%s\", \"traces\": %u, \"leaky\": %u, \"found\": %u, \"growing\": %u, "
		"\"sites\": %u, \"sites_found\": %u, \"false_alarms\": %u, \"wrong_site\": %u, "
		"\"innocent_sites\": %u, \"unsaid\": %u, \"accepted\": %u, \"confusion\": {",
		score->name, score->traces, score->leaky, score->found, score->growing,
		score->sites, score->sites_found, score->false_alarms, score->wrong_site,
		score->innocent_sites, score->unsaid, score->accepted);
	for (int i = 0, first = 1; i < VERDICT_COUNT; i++) {
		for (int j = 0; j < VERDICT_COUNT; j++) {
			if (!score->confusion[i][j])
				continue;
			fprintf(file, "%s\"%s as %s\": %u", first ? "" : ", ",
				verdict_name((enum verdict)i), verdict_name((enum verdict)j),
				score->confusion[i][j]);
			first = 0;
		}
	}
	fprintf(file, "}}");
}

void scores_json(const struct scores *scores, FILE *file)
{
	fprintf(file, "{\"schema\": \"gpuleak-families/1\", \"families\": [\n");
	for (uint32_t i = 0; i < scores->count; i++) {
		json_one(&scores->score[i], file);
		fprintf(file, i + 1 < scores->count ? ",\n" : "\n");
	}
	fprintf(file, "]}\n");
}
