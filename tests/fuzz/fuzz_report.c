/*
 * libFuzzer: any bytes are a trace.  The whole reader runs over them, as text and
 * as JSON; a crash, a leak or a hang is a bug.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/json.h"
#include "report/report.h"
#include "report/terminal.h"
#include "report/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void report_on(const char *path, FILE *out)
{
	struct options options = {.all = true, .peak = true, .max_findings = 100};
	struct terminal terminal = {.out = out, .colour = true, .width = 80};
	struct report report;
	struct message why;

	if (report_init(&report, path, &options, &why) < 0)
		return;
	text_print_summary(&terminal, &report, 1, &options);
	text_print(&terminal, &report, &options);
	json_print(out, &report, 1, true, &options);
	report_release(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static FILE *out;
	char path[32];
	int fd = memfd_create("trace", MFD_CLOEXEC);

	if (!out)
		out = fopen("/dev/null", "we");
	if (fd < 0 || !out || pwrite(fd, bytes, size, 0) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	report_on(path, out);
	close(fd);
	return 0;
}
