/* What a trace's names may do to a terminal or to a JSON parser. */
#include "report/escape.h"

#include "test_files.h"

static struct text text_of(const char *string)
{
	return (struct text){at_edge(string, strlen(string)), strlen(string)};
}

static void expect_printed(const char *from, size_t columns, const char *expected)
{
	char *printed = NULL;
	size_t size;
	FILE *out = open_memstream(&printed, &size);

	escape_print_cut(out, text_of(from), columns);
	fclose(out);
	EXPECT_STR(printed, expected);
	free(printed);
}

static void text_is_harmless(void)
{
	expect_printed("plain.py", SIZE_MAX, "plain.py");
	expect_printed("größe→字", SIZE_MAX, "größe→字");
	expect_printed("\033[31mred", SIZE_MAX, "\\x1b[31mred");
	expect_printed("a\r\nb\tc\a\177", SIZE_MAX, "a\\x0d\\x0ab c\\x07\\x7f");
	expect_printed("c1 \xc2\x9b", SIZE_MAX, "c1 \\u009b");
	expect_printed("\xe2\x80\xaegnp.\xe2\x81\xa6", SIZE_MAX, "\\u202egnp.\\u2066");
	expect_printed("\xe2\x80\xa8", SIZE_MAX, "\\u2028");
	expect_printed("\xf3\xa0\x80\x81", SIZE_MAX, "\\ue0001");
}

static void bad_utf8_is_shown(void)
{
	expect_printed("\xff", SIZE_MAX, "\\xff");
	expect_printed("\xc3", SIZE_MAX, "\\xc3");
	expect_printed("\xc0\x80", SIZE_MAX, "\\xc0\\x80");
	expect_printed("\xe0\x80\x80", SIZE_MAX, "\\xe0\\x80\\x80");
	expect_printed("\xed\xa0\x80", SIZE_MAX, "\\xed\\xa0\\x80");
	expect_printed("\xf4\x90\x80\x80", SIZE_MAX, "\\xf4\\x90\\x80\\x80");
	expect_printed("\xf0\x9f\x98", SIZE_MAX, "\\xf0\\x9f\\x98");
	expect_printed("\x9b", SIZE_MAX, "\\x9b");
	expect_printed("\xc3(", SIZE_MAX, "\\xc3(");
}

static void long_text_is_cut(void)
{
	expect_printed("abcdef", 6, "abcdef");
	expect_printed("abcdefg", 6, "abcde…");
	expect_printed("字字字", 6, "字字字");
	expect_printed("字字字字", 6, "字字…");
	expect_printed("abc\033", 6, "abc…");
	expect_printed("", 0, "");
	expect_printed("a", 0, "");
}

static void expect_valid(const char *from, size_t size, size_t max, const char *expected)
{
	char *valid = escape_valid((struct text){at_edge(from, size), size}, max);

	EXPECT_STR(valid, expected);
	free(valid);
}

static void copies_are_valid(void)
{
	expect_valid("abc", 3, 100, "abc");
	expect_valid("a\0b", 3, 100,
		     "a\xef\xbf\xbd"
		     "b");
	expect_valid("\xff\xfe", 2, 100, "\xef\xbf\xbd\xef\xbf\xbd");
	expect_valid("abcdef", 6, 3, "abc\xef\xbf\xbd");
	expect_valid("", 0, 3, "");
}

static void expect_json(const char *from, const char *expected)
{
	char *printed = NULL;
	size_t size;
	FILE *out = open_memstream(&printed, &size);

	escape_print_json(out, from);
	fclose(out);
	EXPECT_STR(printed, expected);
	free(printed);
}

static void json_is_harmless(void)
{
	expect_json("{\"a\":\n\"b\"}", "{\"a\":\n\"b\"}");
	expect_json("\"\xc2\x9b\177\"", "\"\\u009b\\u007f\"");
	expect_json("\"\xe2\x80\xae\xf3\xa0\x80\x81ö\"", "\"\\u202e\\udb40\\udc01ö\"");
	expect_json("\"\xff\"", "\"\\ufffd\"");
}

int main(void)
{
	text_is_harmless();
	bad_utf8_is_shown();
	long_text_is_cut();
	copies_are_valid();
	json_is_harmless();
	return test_result();
}
