/* Which call stacks are one finding, and which jump a jump is. */
#include "report/findings.h"

#include "report/occasion.h"
#include "report/report.h"
#include "test_files.h"
#include "trace/layout.h"

#define PACKAGES "/opt/venv/lib/python3.11/site-packages/"
#define TORCH	 PACKAGES "torch/"
#define CALL	 TORCH "nn/modules/module.py:1773:_call_impl|"
#define MAIN	 "|train.py:41:<module>"

static const struct build_pattern kept = {
	.from = 1, .every = 1, .blocks = 1, .bytes = 512, .age = BUILD_KEPT};
static const struct build_pattern once = {
	.from = 7, .blocks = 2, .bytes = 8 << 20, .age = BUILD_KEPT};

static void begin(struct build *build)
{
	build_init(build, LAYOUT_SIZE_MIN);
	build->run->folder = build_string(build, "/home/me");
	build->run->main_file = build_string(build, "train.py");
	build->run->stdlib = build_bytes(build, "/usr/lib/python3.11\0", 20);
	build->state->marks[0].parameters_bytes = 16 << 20;
	build->state->marks[1] = build->state->marks[0];
	build_device(build, 0, "Simulated GPU", 0);
}

static void end(struct build *build, struct report *report)
{
	static const struct options options = {.max_findings = 20};
	struct message why;

	build_steps(build, 60);
	write_trace(build);
	EXPECT_U64(report_init(report, test_path(), &options, &why), 0);
	build_release(build);
}

static const struct finding *finding_at(const struct report *report, enum verdict label,
					uint32_t line)
{
	const struct findings *device = &report->devices[0];

	for (size_t i = 0; i < device->count; i++)
		if (device->items[i].label == label && device->items[i].place.where->line == line)
			return &device->items[i];
	return NULL;
}

/* The kernels of one forward are one leak, with its parts. */
static void kernels_are_one(void)
{
	struct build build;
	struct report report;
	const struct finding *finding;

	begin(&build);
	for (int i = 0; i < 20; i++) {
		char stack[512];

		snprintf(stack, sizeof(stack),
			 TORCH "nn/functional.py:%d:kernel%d|" CALL "train.py:23:train" MAIN, i, i);
		build_site(&build, 0, stack, 0, kept);
	}
	end(&build, &report);
	finding = finding_at(&report, VERDICT_LEAK, 23);
	EXPECT_U64(report.devices[0].count, 1);
	EXPECT(finding && finding->parts == 20 && finding->bytes_per_step == 20 * 512);
	report_release(&report);
}

/* A leak beside a jump at the same line: their stacks differ below it, or above. */
static void leak_and_jump_are_two(void)
{
	struct build build;
	struct report report;
	const struct finding *leak, *jump;

	begin(&build);
	build_site(&build, 0, "train.py:23:train" MAIN, 0, kept);
	build_site(&build, 0, TORCH "nn/functional.py:9:pad|train.py:23:train" MAIN, 0, once);
	end(&build, &report);
	leak = finding_at(&report, VERDICT_LEAK, 23);
	jump = finding_at(&report, VERDICT_JUMP, 23);
	EXPECT_U64(report.devices[0].count, 2);
	EXPECT(leak && leak->bytes_per_step == 512);
	EXPECT(jump && jump->bytes == 16 << 20);
	report_release(&report);
}

/* Two callers of one helper are two leaks to mend. */
static void callers_are_told_apart(void)
{
	struct build build;
	struct report report;
	uint32_t lines = 0;

	begin(&build);
	build_site(&build, 0, "lib.py:5:block|train.py:23:train" MAIN, 0, kept);
	build_site(&build, 0, "lib.py:5:block|train.py:88:log" MAIN, 0, kept);
	build_site(&build, 0, TORCH "x.py:1:f|lib.py:5:block|train.py:88:log" MAIN, 0, kept);
	end(&build, &report);
	EXPECT_U64(report.devices[0].count, 2);
	for (size_t i = 0; i < report.devices[0].count; i++)
		lines += report.devices[0].items[i].place.caller->line;
	EXPECT_U64(lines, 23 + 88);
	report_release(&report);
}

struct occasion {
	const char *stack;
	uint8_t flags;
	uint32_t from;
	const char *expected;
};

static const struct occasion occasions[] = {
	{TORCH "optim/adamw.py:212:_init_group|train.py:26:train" MAIN, GPULEAK_SITE_OPTIMIZER, 1,
	 "made by the first optimizer step"},
	{TORCH "optim/adamw.py:212:_init_group|train.py:26:train" MAIN, GPULEAK_SITE_OPTIMIZER, 7,
	 "made for parameters that joined: unfreezing, another optimizer"},
	{"!/x/libtorch_cuda.so:2:op|!/lib/libc.so.6:4:start_thread", GPULEAK_SITE_BACKWARD, 1,
	 "of the first backward pass"},
	{"!/x/libtorch_cuda.so:2:op|!/lib/libc.so.6:4:start_thread", GPULEAK_SITE_BACKWARD, 7,
	 "of the first backward pass through parameters that joined"},
	{TORCH "nn/parameter.py:79:__deepcopy__|/usr/lib/python3.11/copy.py:153:deepcopy|"
	       "train.py:9:main" MAIN,
	 0, 7, "a copy of the model, such as an EMA or the best so far"},
	{TORCH "optim/swa_utils.py:79:__init__|train.py:9:main" MAIN, 0, 7, "averaged weights"},
	{TORCH "serialization.py:1500:load|train.py:9:main" MAIN, 0, 7,
	 "a checkpoint that was loaded, and is kept"},
	{TORCH "cuda/graphs.py:100:capture|train.py:9:main" MAIN, 0, 7, "of a CUDA graph"},
	{PACKAGES "transformers/cache_utils.py:8:update|train.py:9:main" MAIN, 0, 7,
	 "a key-value cache"},
	{"train.py:9:run_validation" MAIN, 0, 7, "kept by the first validation"},
	{"train.py:9:evaluate" MAIN, 0, 7, "kept by the first validation"},
	{"train.py:9:medieval" MAIN, 0, 7, NULL},
	{"train.py:9:train" MAIN, 0, 7, NULL},
};

static void jumps_have_their_occasion(void)
{
	for (size_t i = 0; i < sizeof(occasions) / sizeof(occasions[0]); i++) {
		struct build_pattern pattern = once;
		struct build build;
		struct report report;

		pattern.from = occasions[i].from;
		begin(&build);
		build_site(&build, 0, occasions[i].stack, occasions[i].flags, pattern);
		end(&build, &report);
		EXPECT_U64(report.devices[0].items[0].label, VERDICT_JUMP);
		if (occasions[i].expected)
			EXPECT_STR(occasion_text(&report.devices[0].items[0], &report.snapshot),
				   occasions[i].expected);
		else
			EXPECT(!occasion_text(&report.devices[0].items[0], &report.snapshot));
		report_release(&report);
	}
}

/* A checkpoint that lies there beside the weights is worth a word; what is in use isn't. */
static void checkpoint_held_from_the_start(void)
{
	static const char load[] = TORCH "serialization.py:1500:load|train.py:9:main" MAIN;
	struct build_pattern loaded = {.blocks = 4, .bytes = 4 << 20, .age = BUILD_KEPT};
	struct build build;
	struct report report;
	const struct finding *finding;

	begin(&build);
	build_site(&build, 0, load, GPULEAK_SITE_COPIED, loaded);
	build_site(&build, 0, load, 0, loaded);
	build_site(&build, 0, "train.py:12:main" MAIN, GPULEAK_SITE_COPIED, loaded);
	end(&build, &report);
	finding = &report.devices[0].items[0];
	EXPECT_U64(report.devices[0].verdict.label, VERDICT_JUMP);
	EXPECT_U64(report.devices[0].verdict.counts[VERDICT_JUMP], 1);
	EXPECT_U64(finding->label, VERDICT_JUMP);
	EXPECT_U64(finding->parts, 1);
	EXPECT_U64(finding->bytes, 16 << 20);
	EXPECT_STR(occasion_text(finding, &report.snapshot),
		   "a checkpoint that was loaded, and is kept");
	report_release(&report);
}

/* Copied in the first place, but then some of it is replaced: that is no checkpoint. */
static void copied_and_replaced(void)
{
	struct build build;
	struct report report;

	begin(&build);
	build_site(&build, 0, TORCH "serialization.py:1500:load|train.py:9:main" MAIN,
		   GPULEAK_SITE_COPIED,
		   (struct build_pattern){.every = 1, .blocks = 1, .bytes = 4 << 20});
	end(&build, &report);
	EXPECT_U64(report.devices[0].verdict.counts[VERDICT_JUMP], 0);
	report_release(&report);
}

int main(void)
{
	kernels_are_one();
	leak_and_jump_are_two();
	callers_are_told_apart();
	jumps_have_their_occasion();
	checkpoint_held_from_the_start();
	copied_and_replaced();
	unlink(test_path());
	return test_result();
}
