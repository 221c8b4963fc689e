/* Names of traces: yesterday's is kept as .old, a living writer's is left alone. */
#include "tracer/output_claim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tracer/settings.h"

#include "test.h"

/* When the run began that makes the traces: by default after all that is there. */
static uint64_t since = UINT64_MAX;

static char folder[] = "/tmp/gpuleak-claim-XXXXXX";

static struct output_name path(const char *file)
{
	struct output_name name;

	snprintf(name.path, sizeof(name.path), "%s/%s", folder, file);
	return name;
}

static void write_file(const char *file, const char *text)
{
	struct output_name name = path(file);
	int fd = open(name.path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	EXPECT(fd >= 0);
	EXPECT(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static const char *content(const char *file)
{
	static char text[64];
	struct output_name name = path(file);
	int fd = open(name.path, O_RDONLY);
	ssize_t size;

	if (fd < 0)
		return "(no file)";
	size = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[size > 0 ? size : 0] = '\0';
	return text;
}

static struct output_name claim(const char *text)
{
	struct output_name name = path("trace.bin");
	struct output_name temporary = path("temporary");

	write_file("temporary", text);
	EXPECT(output_claim(&name, &temporary, since));
	return name;
}

static void old_traces_are_kept(void)
{
	claim("first");
	EXPECT_STR(content("trace.bin"), "first");
	claim("second");
	claim("third");
	EXPECT_STR(content("trace.bin"), "third");
	EXPECT_STR(content("trace.bin.old"), "first");
	EXPECT_STR(content("trace.bin.old.2"), "second");
}

static void a_living_writer_keeps_its_name(void)
{
	struct output_name mine = path("trace.bin");
	int fd = open(mine.path, O_RDWR);
	char expected[64];
	struct output_name got;

	EXPECT(flock(fd, LOCK_EX | LOCK_NB) == 0);
	got = claim("other");
	EXPECT_STR(content("trace.bin"), "third");
	snprintf(expected, sizeof(expected), "trace.%ld.bin", (long)getpid());
	EXPECT_STR(strrchr(got.path, '/') + 1, expected);
	EXPECT_STR(content(expected), "other");
	close(fd);
}

/* Of two processes of one run, the one that ended first keeps its name. */
static void a_trace_of_the_same_run_stays(void)
{
	struct output_name got;

	since = 1;
	got = claim("parent");
	EXPECT_STR(content("trace.bin"), "third");
	EXPECT(!strstr(got.path, "trace.bin"));
	since = UINT64_MAX;
}

/* A link planted in a shared folder must not lead us to somebody's file. */
static void a_link_is_not_followed(void)
{
	struct output_name name = path("trace.bin");
	struct output_name target = path("precious");
	struct output_name got;

	write_file("precious", "precious");
	EXPECT(unlink(name.path) == 0);
	EXPECT(symlink(target.path, name.path) == 0);
	got = claim("mine");
	EXPECT_STR(content("precious"), "precious");
	EXPECT(strcmp(got.path, name.path) != 0);
}

static bool ranks_claimed(const char *out, uint64_t from)
{
	snprintf(settings.out, sizeof(settings.out), "%s", out);
	return output_ranks_claimed(from);
}

/* A launcher without a rank, beside what its ranks wrote. */
static void ranks_are_found(void)
{
	static const char *const variables[] = {"RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK",
						"PMI_RANK", "LOCAL_RANK"};

	for (unsigned i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		unsetenv(variables[i]);
	snprintf(settings.folder, sizeof(settings.folder), "%s", folder);
	write_file("trace.rank.bin", "no number");
	write_file("trace.rank3.bin.old", "yesterday's");
	write_file("run.rankx.bin", "no number");
	EXPECT(!ranks_claimed("", 0) && !ranks_claimed("run.rank%r.bin", 0));
	write_file("trace.rank3.bin", "a rank's");
	write_file("run.rank12.bin", "a rank's");
	EXPECT(ranks_claimed("", 0) && ranks_claimed("run.rank%r.bin", 0));
	EXPECT(!ranks_claimed("", UINT64_MAX)); /* of an earlier run */
	EXPECT(!ranks_claimed("run.bin", 0));
	EXPECT(!ranks_claimed("%r/run.bin", 0));
	setenv("RANK", "1", 1);
	EXPECT(!ranks_claimed("", 0));
	unsetenv("RANK");
}

int main(void)
{
	char command[128];

	if (!mkdtemp(folder))
		return TEST_FAIL;
	old_traces_are_kept();
	a_trace_of_the_same_run_stays();
	a_living_writer_keeps_its_name();
	a_link_is_not_followed();
	ranks_are_found();
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	EXPECT(system(command) == 0);
	return test_result();
}
