/* An earlier run: which findings are known, and that any bytes may be its report. */
#include "report/baseline.h"

#include "report/json.h"
#include "test_files.h"
#include "trace/layout.h"

#define REPORT "{\"schema\":\"gpuleak-report/1\",\"trace\":{\"steps\":9},\"devices\":[%s]}"

static const char *json_path(void)
{
	static char path[64];

	snprintf(path, sizeof(path), "/tmp/gpuleak-test-%d.json", (int)getpid());
	return path;
}

static int read_bytes(struct baseline *baseline, const char *bytes, size_t size)
{
	static const struct options options = {.max_findings = 20};
	struct message why = {""};
	FILE *file = fopen(json_path(), "we");
	int ret;

	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
		perror(json_path());
		exit(TEST_FAIL);
	}
	ret = baseline_read(baseline, json_path(), &options, &why);
	EXPECT(ret == 0 || why.text[0]);
	return ret;
}

/* A report whose only trace has these devices. */
static int read_devices(struct baseline *baseline, const char *devices)
{
	static char text[8192];

	snprintf(text, sizeof(text), REPORT, devices);
	return read_bytes(baseline, text, strlen(text));
}

static void what_is_no_report_is_refused(void)
{
	static const char *const texts[] = {
		"",
		" ",
		"null",
		"[]",
		"3",
		"\"gpuleak-report/1\"",
		"{}",
		"{\"schema\":1}",
		"{\"schema\":\"gpuleak-report/2\",\"devices\":[]}",
		"{\"schema\":\"gpuleak-report/1\"}",
		"{\"traces\":[{}]}",
		"{\"traces\":[1]}",
		"GPULEAK",
		"{\"schema\":\"gpuleak-report/1\",\"devices\":[]",
	};
	struct baseline baseline;

	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (read_bytes(&baseline, texts[i], strlen(texts[i])) != -1) {
			test_failed(__FILE__, __LINE__);
			fprintf(stderr, "taken for a report: %s\n", texts[i]);
			baseline_release(&baseline);
		}
	}
}

/* Values of the wrong kind are left out, and numbers that can't be are none. */
static void odd_values_do_no_harm(void)
{
	static const char *const odd[] = {
		"1,null,\"x\",[],{}",
		"{\"sites\":3}",
		"{\"sites\":{\"key\":\"a\"}}",
		("{\"verdict\":[],\"sites\":[null,1,[],{},{\"key\":1,\"verdict\":\"LEAK\"},"
		 "{\"key\":\"a\"},{\"key\":\"a\",\"verdict\":\"LEEK\"}]}"),
	};
	struct baseline baseline;

	for (unsigned i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		EXPECT_U64(read_devices(&baseline, odd[i]), 0);
		EXPECT_U64(baseline.count, 0);
		baseline_release(&baseline);
	}
	EXPECT_U64(read_devices(
			   &baseline,
			   "{\"sites\":[{\"key\":\"a\",\"verdict\":\"LEAK\",\"bytes_per_step\":"
			   "-1e308},{\"key\":\"b\",\"verdict\":\"LEAK\",\"bytes_per_step\":1e999},"
			   "{\"key\":\"c\",\"verdict\":\"JUMP\",\"bytes\":\"x\"}]}"),
		   0);
	EXPECT_U64(baseline.count, 3);
	for (size_t i = 0; i < baseline.count; i++)
		EXPECT_U64(baseline.entries[i].amount, 0);
	baseline_release(&baseline);
}

/* HOST has no finding: it is known where the baseline has it, too. */
static void host_is_known(void)
{
	static const char with[] = "{\"schema\":\"gpuleak-report/1\",\"devices\":[],"
				   "\"host\":{\"verdict\":\"HOST\"}}";
	static const char without[] = "{\"schema\":\"gpuleak-report/1\",\"devices\":[],"
				      "\"host\":{\"verdict\":null}}";
	struct baseline baseline;

	EXPECT_U64(read_bytes(&baseline, with, sizeof(with) - 1), 0);
	EXPECT(baseline.host);
	baseline_release(&baseline);
	EXPECT_U64(read_bytes(&baseline, without, sizeof(without) - 1), 0);
	EXPECT(!baseline.host);
	baseline_release(&baseline);
}

static void nesting_has_an_end(void)
{
	static char text[1 << 20];
	struct baseline baseline;

	memset(text, '[', sizeof(text));
	EXPECT_U64(read_bytes(&baseline, text, sizeof(text)), -1);
	for (size_t i = 0; i + 5 <= sizeof(text); i += 5)
		memcpy(text + i, "{\"a\":", 5);
	EXPECT_U64(read_bytes(&baseline, text, sizeof(text)), -1);
}

/* A site that leaks `bytes` a step in a function. */
struct leak {
	const char *function;
	uint32_t line;
	uint64_t bytes;
};

static void take_report(struct report *report, const struct leak *leaks, size_t count)
{
	static const struct options options = {.max_findings = 20};
	struct message why;
	struct build build;

	build_init(&build, LAYOUT_SIZE_MIN);
	build.run->folder = build_string(&build, "/home/me");
	build.run->main_file = build_string(&build, "train.py");
	build_device(&build, 0, "Simulated GPU", 0);
	for (size_t i = 0; i < count; i++) {
		char stack[64];

		snprintf(stack, sizeof(stack), "train.py:%u:%s", leaks[i].line, leaks[i].function);
		build_site(&build, 0, stack, 0,
			   (struct build_pattern){.from = 1,
						  .every = 1,
						  .blocks = 1,
						  .bytes = leaks[i].bytes,
						  .age = BUILD_KEPT});
	}
	build_steps(&build, 60);
	write_trace(&build);
	EXPECT_U64(report_init(report, test_path(), &options, &why), 0);
	build_release(&build);
}

static enum finding_state state_at(const struct report *report, uint32_t line)
{
	for (size_t i = 0; i < report->devices[0].count; i++)
		if (report->devices[0].items[i].place.where->line == line)
			return report->devices[0].items[i].state;
	return FINDING_ALONE;
}

static bool fails(const struct report *report)
{
	return report_fails(report, &(struct options){.fail_on = 1u << VERDICT_LEAK});
}

#define LEAK(key, rate) "{\"key\":\"" key "\",\"verdict\":\"LEAK\",\"bytes_per_step\":" rate "}"

static void findings_are_compared(void)
{
	static const struct leak leaks[] = {{"a", 1, 1024}, {"a", 2, 65536}, {"b", 3, 4096}};
	struct baseline baseline;
	struct report report;

	take_report(&report, leaks, 3);
	EXPECT(fails(&report));
	EXPECT_U64(state_at(&report, 1), FINDING_ALONE);

	/* Each where it was, whatever its line. */
	read_devices(&baseline,
		     "{\"sites\":[" LEAK("train.py:a", "1024.0") "," LEAK(
			     "train.py:b", "4000.0") "," LEAK("train.py:a", "65536.5") "]}");
	baseline_compare(&baseline, &report);
	EXPECT_U64(state_at(&report, 1), FINDING_KNOWN);
	EXPECT_U64(state_at(&report, 2), FINDING_KNOWN);
	EXPECT_U64(state_at(&report, 3), FINDING_KNOWN);
	EXPECT(!fails(&report));
	baseline_release(&baseline);

	/* One of two in a function is new: not the one that is as it was. */
	read_devices(&baseline,
		     "{\"sites\":[" LEAK("train.py:a", "1024") "," LEAK("train.py:b", "2000") "]}");
	baseline_compare(&baseline, &report);
	EXPECT_U64(state_at(&report, 1), FINDING_KNOWN);
	EXPECT_U64(state_at(&report, 2), FINDING_NEW);
	EXPECT_U64(state_at(&report, 3), FINDING_FASTER);
	EXPECT(fails(&report));
	baseline_release(&baseline);

	/* Two devices with one leak each aren't a device with two. */
	read_devices(&baseline, "{\"sites\":[" LEAK("train.py:a", "65536") "," LEAK(
					"train.py:b", "4096") "]},{\"sites\":[" LEAK("train.py:a",
										     "1024") "]}");
	baseline_compare(&baseline, &report);
	EXPECT_U64((state_at(&report, 1) == FINDING_NEW) + (state_at(&report, 2) == FINDING_NEW),
		   1);
	EXPECT(fails(&report));
	baseline_release(&baseline);

	/* A jump at the same place is another matter. */
	read_devices(&baseline, "{\"sites\":[{\"key\":\"train.py:b\",\"verdict\":\"JUMP\","
				"\"bytes\":1e9}]}");
	baseline_compare(&baseline, &report);
	EXPECT_U64(state_at(&report, 3), FINDING_NEW);
	baseline_release(&baseline);
	report_release(&report);
}

/* The whole report as JSON, then with bytes changed and cut: a result or an error. */
static void any_bytes_are_read(void)
{
	static const struct leak leaks[] = {{"a", 1, 1024}, {"b", 3, 4096}};
	static const struct options options = {.max_findings = 20};
	struct baseline baseline;
	struct report report;
	uint64_t random = 1;
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);

	take_report(&report, leaks, 2);
	json_print(memory, &report, 1, true, &options);
	fclose(memory);
	EXPECT_U64(read_bytes(&baseline, text, size), 0);
	baseline_compare(&baseline, &report);
	EXPECT(!fails(&report));
	baseline_release(&baseline);
	for (int i = 0; i < 2000; i++) {
		char *copy = malloc(size);
		size_t length = size;

		memcpy(copy, text, size);
		for (int k = i % 5; k >= 0; k--) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			copy[(random >> 20) % size] = (char)(random >> 56);
		}
		if (i % 7 == 0)
			length = (random >> 30) % size;
		if (read_bytes(&baseline, copy, length) == 0) {
			baseline_compare(&baseline, &report);
			baseline_release(&baseline);
		}
		free(copy);
	}
	free(text);
	report_release(&report);
}

int main(void)
{
	what_is_no_report_is_refused();
	odd_values_do_no_harm();
	nesting_has_an_end();
	host_is_known();
	findings_are_compared();
	any_bytes_are_read();
	unlink(json_path());
	unlink(test_path());
	return test_result();
}
