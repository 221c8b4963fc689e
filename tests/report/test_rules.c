/* Suppressions: which lines are rules, and which stacks meet them. */
#include "report/rules.h"

#include "report/report.h"
#include "report/wildcard.h"
#include "test_files.h"
#include "trace/layout.h"

static bool meets(const char *pattern, const char *text)
{
	return wildcard_matches(pattern, (struct text){text, strlen(text)});
}

static void wildcards_match(void)
{
	EXPECT(meets("train", "train"));
	EXPECT(!meets("train", "trainer"));
	EXPECT(!meets("train", "a_train"));
	EXPECT(meets("*", ""));
	EXPECT(meets("*train*", "train"));
	EXPECT(meets("a*b*c", "a--b-b--bc"));
	EXPECT(!meets("a*b*c", "a--b-b--b"));
	EXPECT(meets("?at", "cat"));
	EXPECT(!meets("?at", "at"));
	EXPECT(meets("<listcomp>[1]", "<listcomp>[1]"));
	EXPECT(!meets("", "a"));
	EXPECT(meets("", ""));
	EXPECT(wildcard_matches_path("lib/net.py", "/home/me/lib/net.py"));
	EXPECT(wildcard_matches_path("/home/*/net.py", "/home/me/lib/net.py"));
	EXPECT(wildcard_matches_path("net.py", "net.py"));
	EXPECT(!wildcard_matches_path("et.py", "/home/me/net.py"));
	EXPECT(!wildcard_matches_path("lib", "/home/me/lib/net.py"));
}

/* Read `text` as a file of rules.  Its name is replaced by "FILE" in what is wrong with it. */
static int read_text(struct rules *rules, const char *text, size_t size, char wrong[512])
{
	char path[] = "/tmp/rules-XXXXXX";
	struct message why = {""};
	int fd = mkstemp(path);
	int ret;

	*rules = (struct rules){0};
	EXPECT(fd >= 0 && write(fd, text, size) == (ssize_t)size);
	close(fd);
	ret = rules_read(rules, path, &why);
	unlink(path);
	if (strncmp(why.text, path, strlen(path)) == 0)
		snprintf(wrong, 512, "FILE%s", why.text + strlen(path));
	else
		snprintf(wrong, 512, "%s", why.text);
	return ret;
}

static void expect_refused(const char *text, const char *expected)
{
	struct rules rules;
	char wrong[512];

	EXPECT_U64(read_text(&rules, text, strlen(text), wrong), -1);
	EXPECT_STR(wrong, expected);
	rules_release(&rules);
}

static void bad_rules_are_refused(void)
{
	static const char nul[] = "leak:file:a -- b\nleak:\0file:a -- b\n";
	struct rules rules;
	char wrong[512];

	expect_refused("leak:file:a.py\n", "FILE:1: no reason: each rule ends in \" -- \" and why "
					   "it is there");
	expect_refused("# c\n\nleak:file:a.py -- \n",
		       "FILE:3: no reason: each rule ends in \" -- \" and why it is there");
	expect_refused("leak:file: -- r\n", "FILE:1: the pattern is empty");
	expect_refused("leak\n", "FILE:1: not a rule; one is "
				 "VERDICT:function|file|stack:PATTERN -- REASON");
	expect_refused("leak:a -- b\n", "FILE:1: not a rule; one is "
					"VERDICT:function|file|stack:PATTERN -- REASON");
	expect_refused("leek:file:a -- b\n", "FILE:1: no verdict is called leek");
	expect_refused("LEAK:file:a -- b\n", "FILE:1: no verdict is called LEAK");
	expect_refused("leak,:file:a -- b\n", "FILE:1: no verdict is called ");
	expect_refused("fragmentation:file:a -- b\n",
		       "FILE:1: fragmentation is not a verdict on a call stack, so no rule can "
		       "meet it");
	expect_refused("leak:line:a -- b\n",
		       "FILE:1: a pattern is of a function, file or stack, not of a \"line\"");
	expect_refused("bounded:file:a -- b\n", "FILE:1: a bound needs its size: bounded=2GiB:...");
	expect_refused("bounded=:file:a -- b\n",
		       "FILE:1: a bound needs its size: bounded=2GiB:...");
	expect_refused("bounded=0:file:a -- b\n",
		       "FILE:1: a bound needs its size: bounded=2GiB:...");
	expect_refused("bounded=-1:file:a -- b\n",
		       "FILE:1: a bound needs its size: bounded=2GiB:...");
	expect_refused("bounded=2GiBs:file:a -- b\n",
		       "FILE:1: a bound needs its size: bounded=2GiB:...");
	expect_refused("bounded=1e300G:file:a -- b\n",
		       "FILE:1: a bound needs its size: bounded=2GiB:...");
	EXPECT_U64(read_text(&rules, nul, sizeof(nul) - 1, wrong), -1);
	EXPECT_STR(wrong, "FILE:2: not a line of text");
	rules_release(&rules);
}

static uint64_t bound_of(const char *size)
{
	struct rules rules;
	char line[128], wrong[512];
	uint64_t bound = 0;

	snprintf(line, sizeof(line), "bounded=%s:file:a -- b", size);
	EXPECT_U64(read_text(&rules, line, strlen(line), wrong), 0);
	if (rules.count)
		bound = rules.items[0].bound;
	rules_release(&rules);
	return bound;
}

static void good_rules_are_read(void)
{
	static const char text[] = "\xef\xbb\xbf# a comment\r\n"
				   "  leak : stack : a.py:f/b -- c:d -- e -- f \r\n"
				   "jump,noisy:function:g -- why";
	struct rules rules;
	char wrong[512];

	EXPECT_U64(read_text(&rules, text, sizeof(text) - 1, wrong), 0);
	EXPECT_STR(wrong, "");
	EXPECT_U64(rules.count, 2);
	if (rules.count == 2) {
		EXPECT_U64(rules.items[0].labels, 1u << VERDICT_LEAK | 1u << VERDICT_GROWING);
		EXPECT_U64(rules.items[0].what, RULE_STACK);
		EXPECT_STR(rules.items[0].pattern, "a.py:f/b");
		EXPECT_STR(rules.items[0].reason, "c:d -- e -- f");
		EXPECT_U64(rules.items[0].line, 2);
		EXPECT_U64(rules.items[1].labels, 1u << VERDICT_JUMP | 1u << VERDICT_NOISY);
		EXPECT_U64(rules.items[1].line, 3);
	}
	rules_release(&rules);
	EXPECT_U64(bound_of("4096"), 4096);
	EXPECT_U64(bound_of("4096B"), 4096);
	EXPECT_U64(bound_of("1.5K"), 1536);
	EXPECT_U64(bound_of("2GiB"), 2ull << 30);
	EXPECT_U64(bound_of("2 GiB"), 2ull << 30);
	EXPECT_U64(bound_of("2GB"), 2ull << 30);
}

struct matching {
	const char *rule;
	const char *stack;
	bool expected;
};

#define CONV "/opt/venv/lib/python3.11/site-packages/torch/nn/modules/conv.py:549:_conv_forward"

static const struct matching matchings[] = {
	{"leak:function:push -- r", "buffer.py:5:push|train.py:9:train", true},
	{"leak:function:train -- r", "buffer.py:5:push|train.py:9:train", true},
	{"leak:function:pus -- r", "buffer.py:5:push|train.py:9:train", false},
	{"leak:file:buffer.py -- r", "buffer.py:5:push|train.py:9:train", true},
	{"leak:file:torch/nn/modules/conv.py -- r", CONV "|train.py:9:train", true},
	{"leak:file:modules -- r", CONV "|train.py:9:train", false},
	{"leak:stack:train.py:train/conv.py:_conv_forward -- r", CONV "|train.py:9:train", true},
	{"leak:stack:train.py:train -- r", CONV "|train.py:9:train", false},
	{"leak:stack:train.py:train* -- r", CONV "|train.py:9:train", true},
	{"jump:function:* -- r", "train.py:9:train", false},
	{"any:function:* -- r", "train.py:9:train", true},
	{"leak:function:model::forward -- r", "!/home/me/a.out:0x10:_ZN5model7forwardEPf", true},
	{"leak:function:_ZN5model* -- r", "!/home/me/a.out:0x10:_ZN5model7forwardEPf", true},
	{"leak:file:a.out -- r", "!/home/me/a.out:0x10:_ZN5model7forwardEPf", true},
};

static void match_one(const struct matching *matching)
{
	struct rules rules;
	struct options options = {.rules = &rules};
	struct report report;
	struct build build;
	struct message why;
	char wrong[512];

	EXPECT_U64(read_text(&rules, matching->rule, strlen(matching->rule), wrong), 0);
	build_init(&build, LAYOUT_SIZE_MIN);
	build.run->folder = build_string(&build, "/home/me");
	build.run->main_file = build_string(&build, "train.py");
	build_device(&build, 0, "Simulated GPU", 1 << 30);
	build_site(&build, 0, matching->stack, 0,
		   (struct build_pattern){
			   .from = 1, .every = 1, .blocks = 1, .bytes = 512, .age = BUILD_KEPT});
	build_steps(&build, 100);
	write_trace(&build);
	EXPECT_U64(report_init(&report, test_path(), &options, &why), 0);
	if (finding_suppressed(&report.devices[0].items[0]) != matching->expected) {
		test_failed(__FILE__, __LINE__);
		fprintf(stderr, "%s is %smet by %s\n", matching->rule,
			matching->expected ? "not " : "", matching->stack);
	}
	EXPECT_U64(rules.items[0].used, matching->expected);
	EXPECT_U64(report.devices[0].verdict.label,
		   matching->expected ? VERDICT_STABLE : VERDICT_LEAK);
	EXPECT_U64(report.devices[0].items[0].label, VERDICT_LEAK);
	report_release(&report);
	build_release(&build);
	rules_release(&rules);
}

static void stacks_meet_rules(void)
{
	for (size_t i = 0; i < sizeof(matchings) / sizeof(matchings[0]); i++)
		match_one(&matchings[i]);
}

int main(void)
{
	wildcards_match();
	bad_rules_are_refused();
	good_rules_are_read();
	stacks_meet_rules();
	unlink(test_path());
	return test_result();
}
