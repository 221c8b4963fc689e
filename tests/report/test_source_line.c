/* Lines of the traced program: which files are opened, which are not. */
#include "report/source_line.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "test_files.h"

static char folder[] = "/tmp/gpuleak-source-XXXXXX";

static const char *write_file(const char *name, const char *content, size_t size)
{
	static char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	if (!file || fwrite(content, 1, size, file) != size || fclose(file) != 0) {
		perror(path);
		exit(TEST_FAIL);
	}
	return path;
}

static void expect_line(const char *path, uint32_t number, uint64_t started, const char *expected)
{
	char *line = source_line(path, number, started);

	if (expected)
		EXPECT_STR(line, expected);
	else
		EXPECT(!line);
	free(line);
}

static void lines_are_trimmed(void)
{
	static const char content[] = "first\n    \tlogits = net(bx)  \r\n\n  last";
	const char *path = write_file("a.py", content, strlen(content));

	expect_line(path, 1, UINT64_MAX, "first");
	expect_line(path, 2, UINT64_MAX, "logits = net(bx)");
	expect_line(path, 3, UINT64_MAX, NULL);
	expect_line(path, 4, UINT64_MAX, "last");
	expect_line(path, 5, UINT64_MAX, NULL);
	expect_line(path, 0, UINT64_MAX, NULL);
	expect_line(path, UINT32_MAX, UINT64_MAX, NULL);
}

/* A file that changed after the trace began has other lines now. */
static void changed_files_are_not_shown(void)
{
	const char *path = write_file("b.py", "x\n", 2);
	uint64_t now = (uint64_t)time(NULL) * 1000000000;

	expect_line(path, 1, now + 5000000000, "x");
	expect_line(path, 1, now - 5000000000, NULL);
	expect_line(path, 1, 0, NULL);
}

/* The path comes from a trace that anybody may have made. */
static void other_files_are_not_opened(void)
{
	const char *path = write_file("secret.txt", "x\n", 2);
	char fifo[128];

	expect_line(path, 1, UINT64_MAX, NULL);
	expect_line("/etc/hostname", 1, UINT64_MAX, NULL);
	expect_line("a.py", 1, UINT64_MAX, NULL);
	expect_line("", 1, UINT64_MAX, NULL);
	snprintf(fifo, sizeof(fifo), "%s/fifo.py", folder);
	EXPECT(mkfifo(fifo, 0600) == 0);
	expect_line(fifo, 1, UINT64_MAX, NULL);
	unlink(fifo);
	snprintf(fifo, sizeof(fifo), "%s/folder.py", folder);
	EXPECT(mkdir(fifo, 0700) == 0);
	expect_line(fifo, 1, UINT64_MAX, NULL);
	rmdir(fifo);
}

static void lines_end_at_a_nul(void)
{
	expect_line(write_file("c.py", "ab\0cd\nnext\n", 11), 1, UINT64_MAX, "ab");
	expect_line(write_file("c.py", "ab\0cd\nnext\n", 11), 2, UINT64_MAX, "next");
}

static void remove_files(void)
{
	static const char *const names[] = {"a.py", "b.py", "c.py", "secret.txt"};
	char path[128];

	for (unsigned i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	rmdir(folder);
}

int main(void)
{
	if (!mkdtemp(folder))
		return TEST_FAIL;
	lines_are_trimmed();
	changed_files_are_not_shown();
	other_files_are_not_opened();
	lines_end_at_a_nul();
	remove_files();
	return test_result();
}
