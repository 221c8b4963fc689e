#include "events.h"

#include <inttypes.h>

/* Addresses that no two blocks share; none is ever followed. */
#define ADDRESS(block) (0x100000000000u + ((uint64_t)(block) << 20))

static void on_alloc(void *context, uint32_t site, uint32_t block, uint64_t bytes)
{
	struct events *events = context;

	fprintf(events->list, "a 0 %" PRIu64 " %" PRIu64 " %u\n", ADDRESS(block), bytes, site);
}

static void on_free(void *context, uint32_t site, uint32_t block, uint64_t bytes)
{
	struct events *events = context;

	(void)site;
	(void)bytes;
	fprintf(events->list, "f 0 %" PRIu64 "\n", ADDRESS(block));
}

/* What a program counts itself has no mark before its first step: all are one later. */
static void on_mark(void *context, uint32_t step, uint64_t reserved)
{
	struct events *events = context;

	(void)step;
	if (reserved != events->reserved)
		fprintf(events->list, "r 0 %" PRIu64 "\n", reserved);
	events->reserved = reserved;
	fputs("s\n", events->list);
}

struct sink events_sink(struct events *events)
{
	return (struct sink){
		.context = events, .alloc = on_alloc, .free = on_free, .mark = on_mark};
}

void events_truth(struct events *events, const struct world *world, const char *name, uint64_t seed)
{
	const char *between = "";

	fprintf(events->truth,
		"{\"name\": \"%s\", \"seed\": %" PRIu64 ", \"steps\": %u, \"truth\": \"%s\", "
		"\"undecidable\": %s, \"accepted\": [",
		name, seed, world->steps + 1, verdict_name(world->truth),
		world->undecidable ? "true" : "false");
	for (unsigned label = 0; label < VERDICT_COUNT; label++) {
		if (!(world->accepted >> label & 1))
			continue;
		fprintf(events->truth, "%s\"%s\"", between, verdict_name((enum verdict)label));
		between = ", ";
	}
	fputs("], \"leaks\": [", events->truth);
	between = "";
	for (uint32_t i = 0; i < world->sites; i++) {
		if (!world->leaks[i])
			continue;
		fprintf(events->truth, "%s%u", between, i);
		between = ", ";
	}
	fputs("]}\n", events->truth);
}
