/* File names as a trace has them. */
#include "report/paths.h"

#include "test_files.h"

static struct text text_of(const char *string)
{
	return (struct text){at_edge(string, strlen(string)), strlen(string)};
}

static void expect_absolute(const char *folder, const char *file, const char *expected)
{
	char path[PATH_SIZE];

	path_absolute(path, text_of(folder), text_of(file));
	EXPECT_STR(path, expected);
}

static void files_are_made_absolute(void)
{
	expect_absolute("/home/me", "train.py", "/home/me/train.py");
	expect_absolute("/home/me/", "./train.py", "/home/me/train.py");
	expect_absolute("/home/me", "../you/a.py", "/home/you/a.py");
	expect_absolute("/home/me", "../../../a.py", "/a.py");
	expect_absolute("/home/me", "/x//y/./z.py", "/x/y/z.py");
	expect_absolute("/home/me", "<stdin>", "<stdin>");
	expect_absolute("/home/me", "", "");
	expect_absolute("", "train.py", "train.py");
}

static void long_paths_are_cut(void)
{
	static char file[3 * PATH_SIZE];
	char path[PATH_SIZE];

	memset(file, 'x', sizeof(file));
	file[0] = '/';
	path_absolute(path, text_of("/"), (struct text){file, sizeof(file)});
	EXPECT_U64(strlen(path), PATH_SIZE - 1);
	memset(file, '/', sizeof(file));
	path_absolute(path, text_of("/"), (struct text){file, sizeof(file)});
	EXPECT_STR(path, "");
	path_absolute(path, (struct text){"a\0b", 3}, (struct text){"c\0d", 3});
	EXPECT_STR(path, "/a?b/c?d");
}

static void expect_relative(const char *folder, const char *file, const char *expected)
{
	char path[PATH_SIZE];

	path_relative(path, folder, file);
	EXPECT_STR(path, expected);
}

static void files_are_seen_from_a_folder(void)
{
	expect_relative("/home/me", "/home/me/train.py", "train.py");
	expect_relative("/home/me", "/home/me/a/b.py", "a/b.py");
	expect_relative("/home/me/scripts", "/home/me/src/net.py", "../src/net.py");
	expect_relative("/home/me", "/home/mend/a.py", "../mend/a.py");
	expect_relative("/home/me", "/opt/lib/net.py", "lib/net.py");
	expect_relative("/home/me", "/net.py", "net.py");
	expect_relative("/home/me", "<stdin>", "<stdin>");
	expect_relative("", "/a/b/c.py", "b/c.py");
}

static void folders_hold_files(void)
{
	EXPECT_STR(path_below("/a/b/c", text_of("/a/b")), "c");
	EXPECT_STR(path_below("/a/b/c", text_of("/a/b//")), "c");
	EXPECT(!path_below("/a/bc", text_of("/a/b")));
	EXPECT(!path_below("/a/b", text_of("/a/b")));
	EXPECT(!path_below("/a/b", text_of("")));
	EXPECT(!path_below("/a/b", text_of("/")));
}

int main(void)
{
	files_are_made_absolute();
	long_paths_are_cut();
	files_are_seen_from_a_folder();
	folders_hold_files();
	return test_result();
}
