/* Whose code a frame is, which line a stack stands for, what identifies it. */
#include "report/place.h"

#include "report/key.h"
#include "report/report.h"
#include "test_files.h"
#include "trace/layout.h"

#define PACKAGES "/opt/venv/lib/python3.11/site-packages/"
#define TORCH	 PACKAGES "torch/"
#define CONV	 TORCH "nn/modules/conv.py:549:_conv_forward"
#define CALL	 TORCH "nn/modules/module.py:1773:_call_impl"
#define BACKWARD "|" TORCH "autograd/__init__.py:354:backward|" TORCH "_tensor.py:625:backward"
#define MAIN	 "/home/me/project/train.py:41:<module>"

struct expectation {
	const char *stack;
	const char *where; /* "file:line", NULL: none */
	const char *via;
	const char *key;
};

static const struct expectation expectations[] = {
	/* the user's own line */
	{"train.py:23:train|train.py:41:<module>", "/home/me/project/train.py:23", NULL,
	 "train.py:train"},
	/* below the user's line: PyTorch */
	{CONV "|" CALL "|train.py:23:train|" MAIN, "/home/me/project/train.py:23", NULL,
	 "train.py:train/conv.py:_conv_forward"},
	/* ... with a framework between */
	{CONV "|" PACKAGES "lightning/loops.py:7:advance|" PACKAGES
	      "lightning/trainer.py:9:fit|train.py:23:train|" MAIN,
	 "/home/me/project/train.py:23", PACKAGES "lightning/loops.py:7",
	 "train.py:train/conv.py:_conv_forward"},
	/* ... with the standard library between */
	{CONV "|/usr/lib/python3.11/contextlib.py:81:inner|<frozen runpy>:88:_run_code|"
	      "src/net.py:5:forward|" MAIN,
	 "/home/me/project/src/net.py:5", NULL, "src/net.py:forward/conv.py:_conv_forward"},
	/* a library that is called by nobody of the user's */
	{CONV "|" PACKAGES "vllm/engine.py:7:step|/usr/lib/python3.11/threading.py:3:run",
	 PACKAGES "vllm/engine.py:7", NULL, "vllm/engine.py:step/conv.py:_conv_forward"},
	/* nothing but PyTorch */
	{CONV "|" CALL, TORCH "nn/modules/conv.py:549", NULL, "conv.py:_conv_forward"},
	/* the module's own code, and recursion */
	{"train.py:9:<module>", "/home/me/project/train.py:9", NULL, "train.py:<module>"},
	{"t.py:3:f|t.py:3:f|t.py:3:f|t.py:9:g|" MAIN, "/home/me/project/t.py:3", NULL,
	 "t.py:g/t.py:f"},
	/* a virtual environment within the project is not the user's */
	{"/home/me/project/venv/lib/python3.12/site-packages/x.py:1:f|" MAIN,
	 "/home/me/project/train.py:41",
	 "/home/me/project/venv/lib/python3.12/site-packages/x.py:1", "train.py:<module>/x.py:f"},
	/* beside the project */
	{"/home/me/shared/lib.py:1:f|" MAIN, "/home/me/shared/lib.py:1", NULL,
	 "../shared/lib.py:f"},
	/* typed in: the pid is not part of the key */
	{"/tmp/ipykernel_4242/99.py:1:f|<stdin>:1:<module>", "/tmp/ipykernel_4242/99.py:1", NULL,
	 "ipykernel_%p/99.py:f"},
	/* a package named on the command line */
	{CONV "|" PACKAGES "mine/net.py:8:forward|" PACKAGES "other/x.py:9:call|" MAIN,
	 PACKAGES "mine/net.py:8", NULL, "mine/net.py:forward/conv.py:_conv_forward"},
	/* the package that the program is */
	{CONV "|" PACKAGES "tool/core.py:8:run|" PACKAGES "tool/__main__.py:2:<module>",
	 PACKAGES "tool/core.py:8", NULL, "tool/core.py:run/conv.py:_conv_forward"},
	/* a build of PyTorch from source, and what it generates */
	{"/home/me/pytorch/torch/nn/modules/conv.py:5:f|<eval_with_key>.3:7:forward|" MAIN,
	 "/home/me/project/train.py:41", NULL, "train.py:<module>/conv.py:f"},
	/* native frames: not the allocator's */
	{"!/x/libc10_cuda.so:1:malloc|!/x/libtorch_cuda.so:2:op|!/x/libmine.so:3:_ZN4mine4workEv|"
	 "!/lib/libc.so.6:4:start_thread",
	 "/x/libmine.so+3", NULL, "libmine.so:mine::work/libc10_cuda.so:malloc"},
	{"!/x/libc10_cuda.so:1:malloc|!/lib/libc.so.6:4:start_thread", "/lib/libc.so.6+4", NULL,
	 "libc.so.6:start_thread/libc10_cuda.so:malloc"},
	/* a thread of autograd: of who called backward() */
	{"!/x/libtorch_cuda.so:2:op|!/lib/libc.so.6:4:start_thread|" BACKWARD
	 "|train.py:23:train|" MAIN,
	 "/home/me/project/train.py:23", NULL, "train.py:train/libtorch_cuda.so:op"},
	/* ... through a library of the caller's, and of its own */
	{"!/x/libtorch_cuda.so:2:op|" BACKWARD "|" PACKAGES "lightning/loops.py:7:step|" MAIN,
	 "/home/me/project/train.py:41", PACKAGES "lightning/loops.py:7",
	 "train.py:<module>/libtorch_cuda.so:op"},
	{CONV "|" PACKAGES "apex/norm.py:7:backward|" BACKWARD "|" MAIN,
	 "/home/me/project/train.py:41", PACKAGES "apex/norm.py:7",
	 "train.py:<module>/conv.py:_conv_forward"},
	/* ... whose own frames have a line of the user's */
	{CONV "|net.py:5:forward|" BACKWARD "|train.py:23:train|" MAIN, "/home/me/project/net.py:5",
	 NULL, "train.py:train/net.py:forward/conv.py:_conv_forward"},
	{"", NULL, NULL, ""},
};

static void frame_text(const struct snapshot *snapshot, const struct gpuleak_frame *frame,
		       char *text, size_t size)
{
	struct text module;
	char path[4096];

	if (frame->language == GPULEAK_LANGUAGE_NATIVE) {
		module = names_text(&snapshot->names, frame->module);
		snprintf(text, size, "%.*s+%u", (int)module.size, module.bytes,
			 (unsigned)frame->offset);
		return;
	}
	code_file(snapshot, frame, path);
	snprintf(text, size, "%s:%u", path, frame->line);
}

static void expect_frame(const struct snapshot *snapshot, const struct gpuleak_frame *frame,
			 const char *expected)
{
	char text[8192];

	EXPECT(!frame == !expected);
	if (!frame || !expected)
		return;
	frame_text(snapshot, frame, text, sizeof(text));
	EXPECT_STR(text, expected);
}

static void describe(struct build *build)
{
	build->run->folder = build_string(build, "/home/me/project");
	build->run->stdlib = build_bytes(build, "/usr/lib/python3.11\0", 20);
	build->run->main_file = build_string(build, "train.py");
	build->run->main_package = build_string(build, "tool.sub");
	build_device(build, 0, "Simulated GPU", 0);
}

static void stacks_have_their_lines(void)
{
	static const char *patterns[] = {"mine"};
	struct options options = {.all = true, .user_code = patterns, .user_code_count = 1};
	struct report report;
	struct message why;
	struct build build;

	build_init(&build, LAYOUT_SIZE_MIN);
	describe(&build);
	for (unsigned i = 0; i < sizeof(expectations) / sizeof(expectations[0]); i++)
		build_site(&build, 0, expectations[i].stack, 0,
			   (struct build_pattern){
				   .every = 1, .blocks = 1, .bytes = 512, .age = BUILD_KEPT});
	build_steps(&build, 30);
	write_trace(&build);
	EXPECT_U64(report_init(&report, test_path(), &options, &why), 0);
	for (unsigned i = 0; i < sizeof(expectations) / sizeof(expectations[0]); i++) {
		const struct expectation *expected = &expectations[i];
		const struct snapshot_site *site = &report.snapshot.sites[i];
		struct finding finding = {.site = site};
		char key[KEY_SIZE];
		struct stack stack;

		EXPECT(names_stack(&report.snapshot.names, site->stack, &stack));
		place_of_stack(&finding.place, &report.code, &stack);
		expect_frame(&report.snapshot, finding.place.where, expected->where);
		expect_frame(&report.snapshot, finding.place.via, expected->via);
		EXPECT_STR(key_of(&report.code, &finding, key), expected->key);
	}
	report_release(&report);
	build_release(&build);
}

static bool is_workspace(const char *frames)
{
	struct options options = {.all = true};
	struct report report;
	struct message why;
	struct build build;
	struct place place;
	struct stack stack;

	build_init(&build, LAYOUT_SIZE_MIN);
	describe(&build);
	build_site(
		&build, 0, frames, 0,
		(struct build_pattern){.every = 1, .blocks = 1, .bytes = 512, .age = BUILD_KEPT});
	build_steps(&build, 30);
	write_trace(&build);
	EXPECT_U64(report_init(&report, test_path(), &options, &why), 0);
	EXPECT(names_stack(&report.snapshot.names, report.snapshot.sites[0].stack, &stack));
	place_of_stack(&place, &report.code, &stack);
	report_release(&report);
	build_release(&build);
	return place.workspace;
}

static void workspaces_have_their_functions(void)
{
	EXPECT(is_workspace("!/x/libc10_cuda.so:1:|!/x/libtorch_cuda.so:2:"
			    "_ZN2at4cuda24getCurrentCUDABlasHandleEv|!/x/libtorch_cuda.so:3:mm"));
	EXPECT(is_workspace("!/x/libc10_cuda.so:1:|!/x/libtorch_cuda.so:2:"
			    "_ZN2at4cuda25allocateCUDABlasWorkspaceEm"));
	EXPECT(!is_workspace("!/x/libc10_cuda.so:1:|!/x/libmine.so:2:"
			     "_ZN2at4cuda24getCurrentCUDABlasHandleEv"));
	EXPECT(!is_workspace("!/x/libc10_cuda.so:1:|!/x/libtorch_cuda.so:2:_ZN2at10empty_cudaEv"));
}

static const struct finding *finding_of(const struct report *report, uint32_t site)
{
	for (size_t i = 0; i < report->devices[0].count; i++)
		if (report->devices[0].items[i].site->item == site)
			return &report->devices[0].items[i];
	return NULL;
}

static const struct build_pattern kept = {
	.from = 1, .every = 1, .blocks = 1, .bytes = 512, .age = BUILD_KEPT};
static const struct build_pattern in_passing = {.every = 1, .blocks = 1, .bytes = 512};

/* Of 40 steps.  Release it and `build`. */
static void judge(struct build *build, struct report *report)
{
	struct options options = {.all = true};
	struct message why;

	build_steps(build, 40);
	write_trace(build);
	EXPECT_U64(report_init(report, test_path(), &options, &why), 0);
}

/* The finding of the first site is on this line.  Releases `build`. */
static void expect_line(struct build *build, const char *line)
{
	const struct finding *finding;
	struct report report;

	judge(build, &report);
	finding = finding_of(&report, 0);
	EXPECT(finding != NULL);
	if (finding)
		expect_frame(&report.snapshot, finding->place.where, line);
	report_release(&report);
	build_release(build);
}

#define NATIVE "!/x/libtorch_cuda.so:2:op|!/lib/libc.so.6:4:start_thread"
#define AGAIN                                                                                     \
	TORCH "nn/modules/linear.py:134:forward|" TORCH "utils/checkpoint.py:320:backward|" TORCH \
	      "autograd/function.py:310:apply"

/*
 * Gradients that stay are put down to the line that called backward(), if there is one.
 * On the thread's own, or computed again under checkpointing.
 */
static void autograd_has_the_line_of_backward(bool again, bool second_line)
{
	struct build build;

	build_init(&build, LAYOUT_SIZE_MIN);
	describe(&build);
	build_site(&build, 0, again ? AGAIN : NATIVE, again ? 0 : GPULEAK_SITE_BACKWARD, kept);
	build_site(&build, 0,
		   TORCH "autograd/__init__.py:354:backward|" TORCH
			 "_tensor.py:625:backward|train.py:25:train|" MAIN,
		   0, in_passing);
	if (second_line)
		build_site(&build, 0, TORCH "_tensor.py:625:backward|train.py:77:other|" MAIN, 0,
			   in_passing);
	expect_line(&build, !second_line ? "/home/me/project/train.py:25"
			    : again	 ? TORCH "nn/modules/linear.py:134"
					 : "/lib/libc.so.6+4");
}

/* A library called backward() itself: another line that did has no part in it. */
static void callers_are_not_replaced(void)
{
	struct build build;

	build_init(&build, LAYOUT_SIZE_MIN);
	describe(&build);
	build_site(&build, 0, NATIVE "|" BACKWARD "|" PACKAGES "lightning/loops.py:7:step",
		   GPULEAK_SITE_BACKWARD, kept);
	build_site(&build, 0, NATIVE, GPULEAK_SITE_BACKWARD, kept);
	build_site(&build, 0, TORCH "_tensor.py:625:backward|train.py:77:other|" MAIN, 0,
		   in_passing);
	expect_line(&build, PACKAGES "lightning/loops.py:7");
}

/* Two lines; the sites of each have its own.  What else the caller is doing says nothing of them.
 */
static void autograd_has_its_own_callers(void)
{
	static const char *const owns[] = {NATIVE, AGAIN, NATIVE, AGAIN};
	static const char *const lines[] = {"train.py:25:train_step", "train.py:77:eval_step"};
	struct report report;
	struct build build;

	build_init(&build, LAYOUT_SIZE_MIN);
	describe(&build);
	for (unsigned i = 0; i < 4; i++) {
		char stack[2048];

		snprintf(stack, sizeof(stack), "%s|%s|%s|%s|%s", owns[i], BACKWARD, lines[i / 2],
			 CALL, MAIN);
		build_site(
			&build, 0, stack, i % 2 ? 0 : GPULEAK_SITE_BACKWARD,
			(struct build_pattern){
				.from = 1 + i, .blocks = 1, .bytes = 4 << 20, .age = BUILD_KEPT});
	}
	judge(&build, &report);
	for (uint32_t i = 0; i < 4; i++) {
		const struct finding *finding = finding_of(&report, i);

		EXPECT(finding != NULL);
		if (!finding)
			continue;
		expect_frame(&report.snapshot, finding->place.where,
			     i < 2 ? "/home/me/project/train.py:25"
				   : "/home/me/project/train.py:77");
		expect_frame(&report.snapshot, finding->place.caller,
			     "/home/me/project/train.py:41");
		EXPECT(finding->place.user && !finding->place.forward);
		EXPECT(finding->place.python == (i % 2) && finding->place.torch_alone == (i % 2));
		EXPECT_U64(finding->place.occasions, 0);
	}
	report_release(&report);
	build_release(&build);
}

int main(void)
{
	stacks_have_their_lines();
	workspaces_have_their_functions();
	for (unsigned i = 0; i < 4; i++)
		autograd_has_the_line_of_backward(i & 1, i & 2);
	autograd_has_its_own_callers();
	callers_are_not_replaced();
	unlink(test_path());
	return test_result();
}
