/* The verdict on a device: order, thresholds, what no site shows, the forecast. */
#include "report/verdict.h"
#include "test.h"
#include "verdict_made.h"

#define EXPECT_LABEL(device, expected) \
	EXPECT_STR(verdict_name((device).label), verdict_name(expected))

enum {
	SITES = 64,
	STEPS = 400,
};

static struct verdict_site sites[SITES];
static struct gpuleak_timeline_entry entries[STEPS];

static struct verdict_timeline quiet(void)
{
	return (struct verdict_timeline){.demand_growth = 1, .peak = 1 << 30, .reserved = 1 << 30};
}

static struct verdict_device judged(size_t count, uint64_t now,
				    const struct verdict_timeline *timeline, uint64_t capacity)
{
	struct verdict_device device;

	verdict_device(&device, &(struct verdict_device_input){.now = now,
							       .peak = 1 << 30,
							       .capacity = capacity,
							       .others = 1 << 29,
							       .timeline = timeline,
							       .sites = sites,
							       .site_count = count});
	return device;
}

static void expect_sentence(const struct verdict_device *device, const char *expected)
{
	char sentence[VERDICT_SENTENCE];

	verdict_device_sentence(device, sentence, sizeof(sentence));
	EXPECT_STR(sentence, expected);
}

/* One site after the other turns graver; the device follows. */
static void gravest_names_it(void)
{
	static const struct {
		enum verdict site;
		enum verdict device;
	} rows[] = {
		{VERDICT_STABLE, VERDICT_STABLE},   {VERDICT_NOISY, VERDICT_NOISY},
		{VERDICT_PLATEAU, VERDICT_PLATEAU}, {VERDICT_SAWTOOTH, VERDICT_SAWTOOTH},
		{VERDICT_JUMP, VERDICT_JUMP},	    {VERDICT_WORKLOAD, VERDICT_WORKLOAD},
		{VERDICT_GROWING, VERDICT_GROWING}, {VERDICT_LEAK, VERDICT_LEAK},
	};
	struct verdict_timeline timeline = quiet();

	memset(sites, 0, sizeof(sites));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct verdict_device device;

		sites[i] = (struct verdict_site){.label = rows[i].site,
						 .bytes = 64 << 20,
						 .kept_bytes = 64 << 20,
						 .swing = 64 << 20,
						 .bytes_per_step = 100};
		device = judged(i + 1, 100, &timeline, 0);
		EXPECT_LABEL(device, rows[i].device);
		EXPECT(device.site == i || device.label == VERDICT_STABLE);
		device = judged(i + 1, 19, &timeline, 0);
		EXPECT_LABEL(device, VERDICT_SHORT);
		expect_sentence(&device, "19 steps seen; a verdict needs 1 more");
	}
}

/* Below 1 MiB and below 1 % of the peak a jump is no jump; a leak is always a leak. */
static void thresholds(void)
{
	struct verdict_timeline timeline = quiet();
	struct verdict_device device;

	sites[0] =
		(struct verdict_site){.label = VERDICT_JUMP, .kept_bytes = 4096, .oldest_age = 99};
	device = judged(1, 100, &timeline, 0);
	EXPECT_LABEL(device, VERDICT_STABLE);
	EXPECT_U64(device.threshold, 1 << 20);
	expect_sentence(&device, "what stayed, 4.0 KiB, is too little to matter");
	sites[0].kept_bytes = (1 << 20) + 1;
	device = judged(1, 100, &timeline, 0);
	EXPECT_LABEL(device, VERDICT_JUMP);
	sites[0] = (struct verdict_site){.label = VERDICT_LEAK, .bytes_per_step = 0.5};
	device = judged(1, 100, &timeline, 0);
	EXPECT_LABEL(device, VERDICT_LEAK);
	sites[0].suppressed = true;
	device = judged(1, 100, &timeline, 0);
	EXPECT_LABEL(device, VERDICT_STABLE);
	EXPECT_U64(device.counts[VERDICT_LEAK], 0);
	sites[0] = (struct verdict_site){.label = VERDICT_STABLE, .oldest_age = 2};
	device = judged(1, 100, &timeline, 0);
	expect_sentence(&device, "no site kept a block older than 2 steps");
	device = judged(0, 100, &timeline, 0);
	expect_sentence(&device, "no site kept a block from one step to the next");
}

/* capacity 24 GiB, peak 1 GiB, others 0.5 GiB: 22.5 GiB left at 12 MiB a step. */
static void forecast(void)
{
	struct verdict_timeline timeline = quiet();
	struct verdict_device device;

	timeline.seconds_per_step = 0.5;
	sites[0] = (struct verdict_site){.label = VERDICT_LEAK,
					 .bytes_per_step = 12 << 20,
					 .bytes_per_step_spread = 2 << 20};
	device = judged(1, 100, &timeline, UINT64_C(24) << 30);
	EXPECT_U64(device.full_at_step, 100 + 1920);
	EXPECT_U64(device.full_at_step_low, 100 + 1644); /* a segment of 20 MiB earlier */
	EXPECT_U64(device.full_at_step_high, 100 + 2304);
	sites[0].round_bytes = 240 << 20; /* once in 20 steps: nothing comes between */
	device = judged(1, 100, &timeline, UINT64_C(24) << 30);
	EXPECT_U64(device.full_at_step, 100 + 1920);
	EXPECT_U64(device.full_at_step_low, 100 + 1627);
	EXPECT_U64(device.full_at_step_high, 100 + 2328);
	EXPECT(device.full_in_seconds == 960);
	device = judged(1, 100, &timeline, 0);
	EXPECT_U64(device.full_at_step, 0);
	sites[0].bytes_per_step_spread = 12 << 20;
	device = judged(1, 100, &timeline, UINT64_C(24) << 30);
	EXPECT_U64(device.full_at_step_high, 0);
	sites[0].label = VERDICT_GROWING;
	device = judged(1, 100, &timeline, UINT64_C(24) << 30);
	EXPECT_U64(device.full_at_step, 0);
}

/* `count` stacks that each kept memory once: evenly, or all in the first tenth. */
static struct verdict_device pool_of(uint32_t count, bool early)
{
	struct verdict_timeline timeline = quiet();

	for (uint32_t i = 0; i < count; i++) {
		uint32_t step = 2 + i * (early ? 40 : 398) / count;

		sites[i] = (struct verdict_site){.label = VERDICT_JUMP,
						 .kept_bytes = 1024,
						 .kept_blocks = 1,
						 .birth_count = 1,
						 .births[0] = {step, step, 1, 1024}};
	}
	sites[count] = (struct verdict_site){.label = VERDICT_JUMP,
					     .kept_bytes = 1 << 30,
					     .kept_blocks = 9,
					     .birth_count = 1,
					     .births[0] = {1, 1, 9, 1 << 30}};
	return judged(count + 1, STEPS, &timeline, 0);
}

static void pools(void)
{
	struct verdict_device device = pool_of(32, false);

	EXPECT_LABEL(device, VERDICT_LEAK);
	EXPECT_U64(device.pool.parts, 32);
	EXPECT(sites[0].pooled && !sites[32].pooled);
	EXPECT_U64(device.site, VERDICT_NO_SITE);
	EXPECT(device.bytes_per_step > 76 && device.bytes_per_step < 89);
	expect_sentence(&device, "32 call stacks, each of which kept memory once or twice, in "
				 "30 of 31 stretches of 13 steps");
	device = pool_of(32, true);
	EXPECT_LABEL(device, VERDICT_JUMP);
	device = pool_of(15, false);
	EXPECT_LABEL(device, VERDICT_JUMP);
}

/*
 * `count` stacks of one line, the next one from where the last one stopped, each with a block in
 * each of `turn` steps from `first` on; another line has one of its own.
 */
static struct verdict_device relay_of(uint32_t count, uint32_t turn, uint32_t first)
{
	struct verdict_timeline timeline = quiet();

	for (uint32_t i = 0; i < count; i++)
		sites[i] = (struct verdict_site){
			.label = VERDICT_PLATEAU,
			.reason = VERDICT_REASON_STOPPED,
			.kept_bytes = 1024 * turn,
			.kept_blocks = turn,
			.bytes = 1024 * turn,
			.first_step = first + i * turn,
			.last_step = first + (i + 1) * turn - 1,
			.line_begins = i == 0,
			.line_next = i + 1 < count ? i + 2 : 0,
		};
	sites[count] = sites[count - 1];
	sites[count].line_begins = true;
	return judged(count + 1, STEPS, &timeline, 0);
}

static void relays(void)
{
	struct verdict_device device = relay_of(20, 20, 1);

	EXPECT_LABEL(device, VERDICT_LEAK);
	EXPECT_U64(device.pool.parts, 20);
	EXPECT(sites[0].pooled && sites[19].pooled && !sites[20].pooled);
	EXPECT(device.bytes_per_step > 1000 && device.bytes_per_step < 1048);
	expect_sentence(&device, "20 call stacks, one after the other, kept memory in each of "
				 "31 stretches of 13 steps");
	EXPECT_LABEL(relay_of(7, 57, 2), VERDICT_LEAK);
	EXPECT_LABEL(relay_of(20, 1, 200), VERDICT_STABLE); /* all in one place */
	EXPECT_LABEL(relay_of(8, 40, 1), VERDICT_STABLE);   /* stopped 80 steps ago */
	EXPECT_LABEL(relay_of(5, 80, 1), VERDICT_STABLE);   /* too few */
	EXPECT_LABEL(relay_of(3, 133, 1), VERDICT_STABLE);  /* each for a third of the run */
	relay_of(20, 20, 1);
	sites[0].line_begins = false; /* nobody knows whose line it is */
	device = judged(20, STEPS, &(struct verdict_timeline){.demand_growth = 1}, 0);
	EXPECT_LABEL(device, VERDICT_STABLE);
}

/* A timeline of STEPS entries: what a step needs, what stays, what is reserved. */
static struct verdict_timeline series(double demand, double demand_more, double reserved_more)
{
	struct verdict_timeline timeline;
	uint64_t reserved = UINT64_C(2) << 30;

	for (uint32_t i = 0; i < STEPS; i++) {
		uint64_t needed = (uint64_t)(demand + i * demand_more);

		entries[i] = (struct gpuleak_timeline_entry){
			.first_step = i + 1,
			.last_step = i + 1,
			.when = (i + 1) * UINT64_C(250000000),
			.allocated = 100 << 20,
			.trough = 100 << 20,
			.peak = (100 << 20) + needed,
			.reserved = reserved + (uint64_t)(i * reserved_more)};
	}
	verdict_timeline(&timeline, entries, STEPS);
	return timeline;
}

static void timelines(void)
{
	struct verdict_timeline timeline = series(1e8, 0, 0);
	struct verdict_device device = judged(0, STEPS, &timeline, 0);

	EXPECT(timeline.demand_growth == 1 && timeline.demand_tau == 0);
	EXPECT(timeline.seconds_per_step == 0.25);
	EXPECT_LABEL(device, VERDICT_STABLE);
	timeline = series(1e8, 1e6, 0);
	device = judged(0, STEPS, &timeline, 0);
	EXPECT_LABEL(device, VERDICT_WORKLOAD);
	timeline = series(1e8, 0, 1e6);
	device = judged(0, STEPS, &timeline, 0);
	EXPECT_LABEL(device, VERDICT_FRAGMENTATION);
	EXPECT(device.stranded > 0);
	verdict_timeline(&timeline, entries, 0);
	EXPECT(timeline.demand_growth == 1 && timeline.peak == 0);
}

/* As series(), with `bent` bytes by the square of the step reserved as well. */
static struct verdict_device outgrown_of(double demand_more, double reserved_more, double bent)
{
	struct verdict_timeline timeline = series(1e8, demand_more, reserved_more);

	for (uint32_t i = 0; i < STEPS; i++)
		entries[i].reserved += (uint64_t)(i * bent * i);
	verdict_timeline(&timeline, entries, STEPS);
	return judged(0, STEPS, &timeline, 0);
}

/* A workload that grows leaves outgrown segments behind it; more than that is fragmentation. */
static void outgrown(void)
{
	static const struct {
		double demand_more, reserved_more, bent;
		enum verdict label;
		bool stranded;
	} rows[] = {
		{1e6, 1e6, 0, VERDICT_WORKLOAD, false},
		{1e6, 3.9e6, 0, VERDICT_WORKLOAD, true},
		{1e6, 4.2e6, 0, VERDICT_FRAGMENTATION, true},
		{1e6, 0, 12000, VERDICT_WORKLOAD, true},
		{1e6, 0, 17000, VERDICT_WORKLOAD, true},
		{1e6, 0, 19000, VERDICT_FRAGMENTATION, true},
		{1e4, 0.08e6, 0, VERDICT_STABLE, false},
		{1e4, 1e6, 0, VERDICT_FRAGMENTATION, true},
		{1e4, 0, 2000, VERDICT_FRAGMENTATION, true},
		{-0.2e6, 1e6, 0, VERDICT_FRAGMENTATION, true},
	};
	struct verdict_device device;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		device = outgrown_of(rows[i].demand_more, rows[i].reserved_more, rows[i].bent);
		EXPECT_LABEL(device, rows[i].label);
		EXPECT(!!device.stranded == rows[i].stranded);
	}
	device = outgrown_of(1e6, 3.9e6, 0);
	expect_sentence(&device, "what a step needs rose from 137 MiB to 454 MiB; it is given back "
				 "in each step, but 2.85 GiB stay reserved above what the peak "
				 "needs");
	device = outgrown_of(1e6, 1e6, 0);
	expect_sentence(&device, "what a step needs rose from 137 MiB to 454 MiB; it is given back "
				 "in each step");
}

/* One leap of the demand is no growing workload. */
static void leap_of_demand(void)
{
	struct verdict_timeline timeline = series(1e8, 0, 0);
	struct verdict_device device;

	for (uint32_t i = 0; i < STEPS; i++)
		entries[i].peak += i + (i >= 150 ? 300 << 20 : 0);
	verdict_timeline(&timeline, entries, STEPS);
	device = judged(0, STEPS, &timeline, 0);
	EXPECT_LABEL(device, VERDICT_STABLE);
}

static void names(void)
{
	for (int i = 0; i < VERDICT_COUNT; i++) {
		enum verdict label = VERDICT_SHORT;

		EXPECT(verdict_by_name(verdict_lower_name((enum verdict)i), &label));
		EXPECT_U64(label, i);
	}
	EXPECT_STR(verdict_name(VERDICT_LEAK), "LEAK");
	EXPECT_STR(verdict_name((enum verdict)99), "UNKNOWN");
	EXPECT(!verdict_by_name("LEAK", &(enum verdict){0}));
}

static void numbers(void)
{
	char text[32];

	EXPECT_STR(verdict_count_text(0, text, sizeof(text)), "0");
	EXPECT_STR(verdict_count_text(999, text, sizeof(text)), "999");
	EXPECT_STR(verdict_count_text(1963, text, sizeof(text)), "1,963");
	memset(text, 'x', sizeof(text));
	EXPECT(verdict_count_text(1234567, text, 6) == text && strlen(text) < 6 && text[6] == 'x');
	EXPECT_STR(verdict_count_text(UINT64_MAX, text, sizeof(text)),
		   "18,446,744,073,709,551,615");
	EXPECT_STR(verdict_size_text(512, text, sizeof(text)), "512 B");
	EXPECT_STR(verdict_size_text(12.5 * 1024, text, sizeof(text)), "12.5 KiB");
	EXPECT_STR(verdict_size_text(0.6 * 1048576, text, sizeof(text)), "614 KiB");
	EXPECT_STR(verdict_size_text(5.83 * 1073741824, text, sizeof(text)), "5.83 GiB");
	EXPECT_STR(verdict_size_text(12.5 * 1048576, text, sizeof(text)), "12.5 MiB");
	EXPECT_STR(verdict_size_text(1023.9, text, sizeof(text)), "1.0 KiB");
}

int main(void)
{
	gravest_names_it();
	thresholds();
	forecast();
	pools();
	relays();
	timelines();
	outgrown();
	leap_of_demand();
	names();
	numbers();
	return test_result();
}
