/* The Python walker's parts: line tables, strings and reads that may fail. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracer/python_lines.h"
#include "tracer/python_offsets.h"
#include "tracer/python_probe.h"
#include "tracer/python_text.h"

#include "test.h"

/* A copy of `size` bytes that ends where memory ends. */
static uint8_t *at_edge(const void *bytes, size_t size)
{
	static uint8_t *pages;

	if (!pages) {
		pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			     0);
		mprotect(pages + 4096, 4096, PROT_NONE);
	}
	memcpy(pages + 4096 - size, bytes, size);
	return pages + 4096 - size;
}

static int32_t line(enum python_line_format format, const uint8_t *table, size_t size,
		    int64_t offset)
{
	const struct python_lines lines = {
		.format = format,
		.table = at_edge(table, size),
		.size = size,
		.first_line = 100,
	};

	return python_line(&lines, offset);
}

static void reads_lnotab(void)
{
	/* 4 bytes of line 100, 2 of 101, then 200 lines on (in two steps), then back. */
	static const uint8_t table[] = {4, 1, 2, 127, 0, 73, 6, (uint8_t)-50};
	enum python_line_format format = PYTHON_LINES_LNOTAB;

	EXPECT_U64(line(format, table, sizeof(table), 0), 100);
	EXPECT_U64(line(format, table, sizeof(table), 3), 100);
	EXPECT_U64(line(format, table, sizeof(table), 4), 101);
	EXPECT_U64(line(format, table, sizeof(table), 6), 301);
	EXPECT_U64(line(format, table, sizeof(table), 11), 301);
	EXPECT_U64(line(format, table, sizeof(table), 12), 251);
	EXPECT_U64(line(format, table, sizeof(table), 100000), 251);
	EXPECT_U64(line(format, table, 0, 5), 100);
}

static void reads_table_of_3_10(void)
{
	/* 4 bytes of line 101, 2 without a line, none of 102, 4 of 103. */
	static const uint8_t table[] = {4, 1, 2, 0x80, 0, 1, 4, 1};
	enum python_line_format format = PYTHON_LINES_TABLE;

	EXPECT_U64(line(format, table, sizeof(table), 0), 101);
	EXPECT_U64(line(format, table, sizeof(table), 2), 101);
	EXPECT_U64(line(format, table, sizeof(table), 4), 101);
	EXPECT_U64(line(format, table, sizeof(table), 6), 103);
	EXPECT_U64(line(format, table, sizeof(table), 9), 103);
	EXPECT_U64(line(format, table, sizeof(table), 1000), 103);
}

static void reads_locations(void)
{
	static const uint8_t table[] = {
		0x80 | 0 << 3 | 1,
		0x11, /* 2 units, short form: line 100 */
		0x80 | 11 << 3 | 0,
		1,
		2, /* 1 unit, line 101 */
		0x80 | 13 << 3 | 2,
		0x40 | 20 << 1,
		3,		    /* 3 units: 20 + (3 << 5) = 116 on: 217 */
		0x80 | 15 << 3 | 0, /* 1 unit without a line */
		0x80 | 14 << 3 | 0,
		5,
		0,
		1,
		2, /* 1 unit: 2 back, 215; columns follow */
	};
	enum python_line_format format = PYTHON_LINES_LOCATIONS;

	EXPECT_U64(line(format, table, sizeof(table), 0), 100);
	EXPECT_U64(line(format, table, sizeof(table), 3), 100);
	EXPECT_U64(line(format, table, sizeof(table), 4), 101);
	EXPECT_U64(line(format, table, sizeof(table), 6), 217);
	EXPECT_U64(line(format, table, sizeof(table), 11), 217);
	EXPECT_U64(line(format, table, sizeof(table), 12), 217);
	EXPECT_U64(line(format, table, sizeof(table), 14), 215);
	EXPECT_U64(line(format, table, sizeof(table), 1000), 215);
}

/* Any table, cut at any byte: no byte beyond its end is read. */
static void stays_in_tables(void)
{
	uint8_t table[64];
	uint32_t random = 1;

	for (unsigned turn = 0; turn < 2000; turn++) {
		for (unsigned i = 0; i < sizeof(table); i++) {
			random = random * 1664525 + 1013904223;
			table[i] = (uint8_t)(random >> 24);
		}
		for (unsigned format = 0; format < 3; format++)
			line((enum python_line_format)format, table, turn % (sizeof(table) + 1),
			     INT64_MAX);
	}
}

/* A str in the making: its type, header and characters in one piece. */
static const uint8_t *make_str(const struct python_object_offsets *at, unsigned kind, bool ascii,
			       const void *characters, size_t count)
{
	static uint8_t type[512];
	static uint8_t bytes[4096];
	uint64_t flags = (uint64_t)1 << 28;
	uint32_t state = (kind | 1u << 3 | (unsigned)ascii << 4) << at->str_kind_shift;
	const uint8_t *type_at = type;
	uint16_t data = ascii ? at->str_ascii : at->str_wide;
	uint64_t length = count;

	memset(bytes, 0, sizeof(bytes));
	memcpy(type + at->type_flags, &flags, sizeof(flags));
	memcpy(bytes + at->type, &type_at, sizeof(type_at));
	memcpy(bytes + at->str_length, &length, sizeof(length));
	memcpy(bytes + at->str_state, &state, sizeof(state));
	memcpy(bytes + data, characters, count * kind);
	return at_edge(bytes, data + count * kind);
}

static void copies_text(const struct python_object_offsets *at)
{
	static const uint8_t latin[] = {'g', 'r', 0xf6, 0xdf, 'e'};
	static const uint16_t wide[] = {0x51fd, 0x6570, 'x', 0xdcff, 0xd800};
	static const uint32_t astral[] = {'a', 0x1d518, 0x7fffffff};
	char text[16];

	EXPECT(python_text_copy(make_str(at, 1, true, "plain", 5), at, text, sizeof(text)));
	EXPECT_STR(text, "plain");
	EXPECT(python_text_copy(make_str(at, 1, true, "", 0), at, text, sizeof(text)));
	EXPECT_STR(text, "");
	EXPECT(python_text_copy(make_str(at, 1, true, "0123456789abcdefgh", 18), at, text, 16));
	EXPECT_STR(text, "0123456789abcde");
	EXPECT(python_text_copy(make_str(at, 1, false, latin, 5), at, text, sizeof(text)));
	EXPECT_STR(text, "gr\xc3\xb6\xc3\x9f"
			 "e");
	EXPECT(python_text_copy(make_str(at, 1, false, latin, 5), at, text, 4));
	EXPECT_STR(text, "gr"); /* cut before the character that has half its bytes left */
	EXPECT(python_text_copy(make_str(at, 2, false, wide, 5), at, text, sizeof(text)));
	EXPECT_STR(text, "\xe5\x87\xbd\xe6\x95\xb0x\xff\xef\xbf\xbd");
	EXPECT(python_text_copy(make_str(at, 4, false, astral, 3), at, text, sizeof(text)));
	EXPECT_STR(text, "a\xf0\x9d\x94\x98\xef\xbf\xbd");

	EXPECT(!python_text_copy(NULL, at, text, sizeof(text)));
	EXPECT_STR(text, "");
	EXPECT(!python_text_copy(make_str(at, 0, false, "", 0), at, text, sizeof(text)));
	EXPECT(!python_text_copy(make_str(at, 3, false, "", 0), at, text, sizeof(text)));
}

static void refuses_other_types(const struct python_object_offsets *at)
{
	static uint8_t type[512], object[128];
	const uint8_t *type_at = type;
	char text[8] = "before";

	memcpy(object + at->type, &type_at, sizeof(type_at));
	EXPECT(!python_text_copy(object, at, text, sizeof(text)));
	EXPECT_STR(text, "");
}

static void probes(void)
{
	uint8_t *edge = at_edge("0123456789", 10);
	char copy[16];

	errno = 77;
	EXPECT(python_probe(edge, copy, 10));
	EXPECT(memcmp(copy, "0123456789", 10) == 0);
	EXPECT(!python_probe(edge, copy, 11));
	EXPECT(!python_probe(NULL, copy, 8));
	EXPECT(!python_probe((void *)0x4141414141414141, copy, 8));
	EXPECT_U64(errno, 77);
}

/* In a child that may not call process_vm_readv(), as in some containers. */
static void probes_in_a_sandbox(void)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {.len = 4, .filter = rules};
	struct iovec part = {.iov_base = rules, .iov_len = 1};
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0)
			_exit(0); /* no such sandboxes here */
		EXPECT(process_vm_readv(getpid(), &part, 1, &part, 1, 0) == -1);
		probes();
		_exit(test_result());
	}
	EXPECT(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

static void knows_versions(void)
{
	for (unsigned minor = 8; minor <= 15; minor++)
		EXPECT(python_offsets_find(minor, false) != NULL);
	for (unsigned minor = 13; minor <= 15; minor++)
		EXPECT(python_offsets_find(minor, true) != NULL);
	EXPECT(python_offsets_find(7, false) == NULL);
	EXPECT(python_offsets_find(16, false) == NULL);
	EXPECT(python_offsets_find(12, true) == NULL);
}

int main(void)
{
	reads_lnotab();
	reads_table_of_3_10();
	reads_locations();
	stays_in_tables();
	for (unsigned i = 0; i < python_offsets_count; i++) {
		copies_text(&python_offsets[i].object);
		refuses_other_types(&python_offsets[i].object);
	}
	probes();
	probes_in_a_sandbox();
	knows_versions();
	return test_result();
}
