#include "build_cases.h"

#include <stddef.h>
#include <string.h>

#define TORCH	  "/opt/venv/lib/python3.11/site-packages/torch/"
#define STEP_TAIL "/home/me/project/train.py:23:train|/home/me/project/train.py:41:<module>"
#define CONV                                                \
	TORCH "nn/modules/conv.py:549:_conv_forward|" TORCH \
	      "nn/modules/conv.py:554:forward|" TORCH       \
	      "nn/modules/module.py:1773:_call_impl|" TORCH \
	      "nn/modules/module.py:1762:_wrapped_call_impl|"

static const uint64_t gib = 1ull << 30;
static const uint64_t mib = 1ull << 20;

static void describe(struct build *build)
{
	static const char argv[] = "python\0train.py\0--epochs\0"
				   "3";

	build->run->flags = GPULEAK_RUN_SIMULATED | GPULEAK_RUN_PYTHON_STACKS |
			    GPULEAK_RUN_DESCRIBED | GPULEAK_RUN_OPTIMIZER_HOOKS;
	build->run->host = build_string(build, "host-3");
	build->run->argv = build_bytes(build, argv, sizeof(argv));
	build->run->folder = build_string(build, "/home/me/project");
	build->run->program = build_string(build, "/opt/venv/bin/python3.11");
	build->run->python = build_string(build, "3.11.7");
	build->run->torch = build_string(build, "2.15.0+cu132");
	build->run->cuda = build_string(build, "13.2");
	build->run->tracer = build_string(build, "0.1.0");
	build->run->stdlib = build_bytes(build, "/usr/lib/python3.11\0", 20);
	build->run->packages = build_bytes(build, "/opt/venv/lib/python3.11/site-packages\0", 39);
	build->run->main_file = build_string(build, "/home/me/project/train.py");
	build->run->optimizer = build_string(build, "AdamW");
	build->state->clock = GPULEAK_CLOCK_OPTIMIZER;
	build->state->marks[0].parameters_bytes = 3 * mib;
	build->state->marks[0].parameters_count = 12;
	build->state->marks[1] = build->state->marks[0];
	build_device(build, 0, "Simulated GPU", 24 * gib);
}

/* What every training has: parameters, batches, activations, gradients, optimizer state. */
static void add_training(struct build *build, uint32_t device)
{
	build_site(build, device,
		   TORCH "nn/modules/module.py:1355:convert|" TORCH
			 "nn/modules/module.py:942:_apply|" TORCH "nn/modules/module.py:1369:to|"
			 "/home/me/project/train.py:15:train|/home/me/project/train.py:41:<module>",
		   0, (struct build_pattern){.blocks = 12, .bytes = mib / 4, .age = BUILD_KEPT});
	build_site(build, device,
		   "/home/me/project/train.py:22:train|/home/me/project/train.py:41:<module>", 0,
		   (struct build_pattern){.every = 1, .blocks = 2, .bytes = 12288});
	build_site(build, device, CONV STEP_TAIL, 0,
		   (struct build_pattern){.every = 1, .blocks = 3, .bytes = 4 * mib});
	build_site(build, device,
		   TORCH "autograd/graph.py:841:_engine_run_backward|" TORCH
			 "autograd/__init__.py:354:backward|" TORCH "_tensor.py:625:backward|"
			 "/home/me/project/train.py:25:train|/home/me/project/train.py:41:<module>",
		   0, (struct build_pattern){.every = 1, .blocks = 1, .bytes = 512});
	build_site(
		build, device,
		"!/opt/torch/lib/libc10_cuda.so:0x1234:_ZN3c104cuda20CUDACachingAllocator6mallocEv|"
		"!/opt/torch/lib/libtorch_cuda.so:0x9876:_ZN2at6native10empty_cudaEv|"
		"!/lib/x86_64-linux-gnu/libc.so.6:0x89144:start_thread",
		GPULEAK_SITE_BACKWARD,
		(struct build_pattern){.every = 1, .blocks = 12, .bytes = mib / 4, .age = 1});
	build_site(build, device,
		   TORCH "optim/adamw.py:212:_init_group|" TORCH "optim/adamw.py:245:step|" TORCH
			 "optim/optimizer.py:526:wrapper|"
			 "/home/me/project/train.py:26:train|/home/me/project/train.py:41:<module>",
		   GPULEAK_SITE_OPTIMIZER,
		   (struct build_pattern){
			   .from = 1, .blocks = 24, .bytes = mib / 4, .age = BUILD_KEPT});
}

static void fill_leak(struct build *build)
{
	describe(build);
	add_training(build, 0);
	build_site(
		build, 0, CONV STEP_TAIL, 0,
		(struct build_pattern){
			.from = 2, .every = 1, .blocks = 3, .bytes = 4 * mib, .age = BUILD_KEPT});
	build_site(
		build, 0,
		TORCH "nn/functional.py:1704:relu|" TORCH
		      "nn/modules/activation.py:133:forward|" TORCH
		      "nn/modules/module.py:1773:_call_impl|" STEP_TAIL,
		0,
		(struct build_pattern){
			.from = 2, .every = 1, .blocks = 1, .bytes = mib / 2, .age = BUILD_KEPT});
	build_site(build, 0,
		   "/home/me/project/train.py:24:train|/home/me/project/train.py:41:<module>", 0,
		   (struct build_pattern){
			   .from = 2, .every = 1, .blocks = 1, .bytes = 512, .age = BUILD_KEPT});
	build_steps(build, 412);
	build_finish(build);
}

/* The trace "leak" some commits later: other lines, one leak less, one faster, one more. */
static void fill_later(struct build *build)
{
	struct build_pattern kept = {
		.from = 2, .every = 1, .blocks = 1, .bytes = 512, .age = BUILD_KEPT};

	describe(build);
	add_training(build, 0);
	kept.bytes = 12 * mib;
	build_site(build, 0,
		   CONV "/home/me/project/train.py:35:train|/home/me/project/train.py:61:<module>",
		   0, kept);
	kept.bytes = 1024;
	build_site(build, 0,
		   "/home/me/project/train.py:36:train|/home/me/project/train.py:61:<module>", 0,
		   kept);
	kept.bytes = 4096;
	build_site(build, 0,
		   "/home/me/project/log.py:9:add|/home/me/project/train.py:37:train|"
		   "/home/me/project/train.py:61:<module>",
		   0, kept);
	build_steps(build, 300);
	build_finish(build);
}

static void fill_clean(struct build *build)
{
	describe(build);
	add_training(build, 0);
	build->sites[5].pattern.blocks = 0; /* plain SGD keeps nothing */
	build_steps(build, 200);
	build_finish(build);
}

static void fill_jump(struct build *build)
{
	describe(build);
	add_training(build, 0);
	build_steps(build, 60);
	build_finish(build);
}

static void fill_sawtooth(struct build *build)
{
	describe(build);
	build->run->flags |= GPULEAK_RUN_COLLECTIONS;
	add_training(build, 0);
	build_site(build, 0,
		   "/home/me/project/metric.py:7:update|/home/me/project/train.py:30:train|"
		   "/home/me/project/train.py:41:<module>",
		   0,
		   (struct build_pattern){
			   .from = 1, .every = 1, .blocks = 2, .bytes = 2 * mib, .flush = 40});
	build_steps(build, 400);
	build_finish(build);
}

static void fill_noisy(struct build *build)
{
	describe(build);
	add_training(build, 0);
	build_site(build, 0, CONV STEP_TAIL, 0,
		   (struct build_pattern){.from = 1,
					  .every = 1,
					  .blocks = 2,
					  .bytes = 10 * mib,
					  .noise = 80 * mib,
					  .age = 1});
	build_steps(build, 300);
	build_finish(build);
}

static void fill_short(struct build *build)
{
	describe(build);
	add_training(build, 0);
	build_steps(build, 5);
	build_finish(build);
}

/* Killed in the middle of mark 101: the report is of mark 100. */
static void fill_killed(struct build *build)
{
	describe(build);
	add_training(build, 0);
	build_site(build, 0, CONV STEP_TAIL, 0,
		   (struct build_pattern){
			   .from = 2, .every = 1, .blocks = 1, .bytes = mib, .age = BUILD_KEPT});
	build_steps(build, 100);
	build_half_step(build);
}

static void fill_empty(struct build *build)
{
	describe(build);
	build->state->devices = 0;
	build->run->empty_why = build_string(build, "libc10_cuda was loaded, no event came");
	build_finish(build);
}

/* Names that would do harm on a terminal, and no UTF-8. */
static void fill_hostile(struct build *build)
{
	describe(build);
	build->run->host = build_string(build, "ho\033[2Jst\xc2\x9b"
					       "31m\xe2\x80\xaegnp.");
	build->run->main_file = build_string(build, "/home/me/project/\033]0;owned\a.py");
	add_training(build, 0);
	build_site(build, 0,
		   "/home/me/project/a\033[31mb\xff.py:7:f\r\nLEAK|/home/me/project/train.py:41:"
		   "<module>",
		   0,
		   (struct build_pattern){
			   .from = 1, .every = 1, .blocks = 1, .bytes = 1024, .age = BUILD_KEPT});
	build_steps(build, 100);
	build_finish(build);
}

/* Two devices, one of which leaks, cudaMalloc beside PyTorch, an OutOfMemoryError. */
static void fill_devices(struct build *build)
{
	struct gpuleak_site *sites;
	uint32_t site;

	describe(build);
	build_device(build, 3, "Another GPU", 8 * gib);
	build->run->rank = 1;
	build->run->world_size = 2;
	add_training(build, 0);
	add_training(build, 3);
	site = build_site(
		build, 3,
		"/home/me/project/kernels.py:12:workspace|/home/me/project/train.py:41:"
		"<module>",
		0,
		(struct build_pattern){
			.from = 1, .every = 10, .blocks = 1, .bytes = 2 * mib, .age = BUILD_KEPT});
	sites = build_section(build, GPULEAK_SECTION_SITES);
	sites[site].source = GPULEAK_SOURCE_CUDART;
	site = build_site(
		build, 3, CONV STEP_TAIL, GPULEAK_SITE_SEGMENT,
		(struct build_pattern){
			.from = 1, .every = 10, .blocks = 1, .bytes = 20 * mib, .age = BUILD_KEPT});
	sites[site].source = GPULEAK_SOURCE_CUDART;
	build_steps(build, 200);
	build_note_oom(build, 3, 9 * gib, build_stack(build, CONV STEP_TAIL));
	build->state->dropped_notes = 2;
	build->state->gave_up_why = build_string(build, "the trace's file is gone");
	build->state->status = GPULEAK_STATUS_GAVE_UP;
}

/* No agent, no Python: what the stacks' text alone says. */
static void fill_plain(struct build *build)
{
	build->run->argv = build_bytes(build, "./a.out\0", 8);
	build->run->program = build_string(build, "/home/me/a.out");
	build->state->clock = GPULEAK_CLOCK_EXPLICIT;
	build_device(build, 0, "Simulated GPU", 0);
	build_site(build, 0,
		   "!/usr/lib/libgpuleak.so:0x10:cudaMalloc|!/home/me/a.out:0x1188:"
		   "_ZN5model7forwardEPf|!/home/me/a.out:0x1300:main",
		   0,
		   (struct build_pattern){
			   .from = 1, .every = 2, .blocks = 1, .bytes = 4096, .age = BUILD_KEPT});
	build_steps(build, 120);
	build_finish(build);
}

/* Each step keeps a block from a stack that is seen once. */
static void fill_pool(struct build *build)
{
	describe(build);
	add_training(build, 0);
	for (uint32_t i = 0; i < 66; i++)
		build_site(build, 0,
			   "<string>:1:generated|/home/me/project/jit.py:88:call|"
			   "/home/me/project/train.py:41:<module>",
			   0,
			   (struct build_pattern){.from = 2 + 3 * i + i % 2,
						  .blocks = 1,
						  .bytes = 4096,
						  .age = BUILD_KEPT});
	build_steps(build, 200);
	build_finish(build);
}

/* Behind the training an evaluation keeps what it computes, and ends no step. */
static void fill_evaluated(struct build *build)
{
	describe(build);
	add_training(build, 0);
	build_site(build, 0,
		   TORCH
		   "nn/modules/linear.py:134:forward|"
		   "/home/me/project/train.py:52:evaluate|/home/me/project/train.py:61:<module>",
		   0,
		   (struct build_pattern){
			   .from = 61, .blocks = 180, .bytes = mib / 4, .age = BUILD_KEPT});
	build_steps(build, 60);
	build_half_step(build);
}

/* A PyTorch from the future: its optimizers tell nobody of their steps. */
static void fill_backward(struct build *build)
{
	describe(build);
	build->state->clock = GPULEAK_CLOCK_BACKWARD;
	build_note_optimizers_off(build, "AttributeError: module 'torch.optim.optimizer' has no "
					 "attribute 'register_optimizer_step_pre_hook'");
	add_training(build, 0);
	build_steps(build, 60);
	build_finish(build);
}

const struct build_case build_cases[] = {
	{"leak", fill_leak, 4 << 20},	{"later", fill_later, 4 << 20},
	{"clean", fill_clean, 0},	{"jump", fill_jump, 0},
	{"sawtooth", fill_sawtooth, 0}, {"noisy", fill_noisy, 0},
	{"short", fill_short, 0},	{"killed", fill_killed, 0},
	{"empty", fill_empty, 0},	{"hostile", fill_hostile, 0},
	{"devices", fill_devices, 0},	{"plain", fill_plain, 0},
	{"pool", fill_pool, 0},		{"evaluated", fill_evaluated, 0},
	{"backward", fill_backward, 0}, {NULL, NULL, 0},
};
