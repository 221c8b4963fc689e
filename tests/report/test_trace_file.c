/* Headers: what is refused, what is left out, what is read all the same. */
#include "report/trace_file.h"

#include <stddef.h>
#include <sys/stat.h>

#include "report/items.h"
#include "test_files.h"
#include "trace/layout.h"

static struct gpuleak_section *section_of(struct build *build, uint32_t kind)
{
	return (struct gpuleak_section *)(uintptr_t)layout_section(build->header, kind);
}

static void expect_refused(const struct build *build, const char *expected)
{
	struct message why = {""};
	struct trace_file file;
	const char *text = why.text;

	write_trace(build);
	EXPECT_U64(trace_file_open(&file, test_path(), &why), -1);
	EXPECT(strncmp(text, test_path(), strlen(test_path())) == 0);
	EXPECT_STR(text + strlen(test_path()), expected);
}

static void bad_headers_are_refused(void)
{
	struct gpuleak_file_header good;
	struct build build;

	build_init(&build, LAYOUT_SIZE_MIN);
	good = *build.header;
	build.header->magic[0] = 'g';
	expect_refused(&build, ": not a trace of gpuleak");
	*build.header = good;
	build.header->major = 3;
	build.header->minor = 0;
	expect_refused(&build, ": format 3.0, this program reads up to 2.x");
	build.header->major = 0;
	expect_refused(&build, ": format 0.0, this program reads up to 2.x");
	*build.header = good;
	build.header->byte_order = 0x04030201;
	expect_refused(&build, ": from a machine of another byte order");
	*build.header = good;
	section_of(&build, GPULEAK_SECTION_STATE)->offset = UINT64_MAX;
	expect_refused(&build, ": damaged: the section that says what is in use");
	*build.header = good;
	build.size = sizeof(struct gpuleak_file_header) - 1;
	expect_refused(&build, ": too short for a trace");
	build.size = 0;
	expect_refused(&build, ": too short for a trace");
	build_release(&build);
}

static void other_files_are_refused(void)
{
	struct trace_file file;
	struct message why;

	EXPECT_U64(trace_file_open(&file, "/nonexistent/trace.bin", &why), -1);
	EXPECT_STR(why.text, "/nonexistent/trace.bin: No such file or directory");
	EXPECT_U64(trace_file_open(&file, "/tmp", &why), -1);
	EXPECT_STR(why.text, "/tmp: a folder, not a trace");
	EXPECT_U64(trace_file_open(&file, "/dev/null", &why), -1);
	EXPECT_STR(why.text, "/dev/null: not a regular file");
}

/* Open what `build` holds, and say whether its sites can be read. */
static bool sites_readable(const struct build *build, struct trace_section *section,
			   uint32_t *damaged)
{
	struct trace_file file;
	struct message why;
	bool found;

	write_trace(build);
	if (trace_file_open(&file, test_path(), &why) < 0) {
		EXPECT_STR(why.text, "");
		return false;
	}
	found = trace_file_section(&file, GPULEAK_SECTION_SITES, sizeof(struct gpuleak_site),
				   section);
	*damaged = file.damaged;
	trace_file_release(&file);
	return found;
}

static void bad_sections_are_left_out(void)
{
	struct gpuleak_file_header good;
	struct trace_section section;
	struct build build;
	uint32_t damaged;

	build_init(&build, LAYOUT_SIZE_MIN);
	good = *build.header;
	EXPECT(sites_readable(&build, &section, &damaged) && !damaged);
	section_of(&build, GPULEAK_SECTION_SITES)->item_size = 0;
	EXPECT(!sites_readable(&build, &section, &damaged) && damaged == 1);
	*build.header = good;
	section_of(&build, GPULEAK_SECTION_SITES)->item_size = 8;
	EXPECT(!sites_readable(&build, &section, &damaged) && !damaged);
	*build.header = good;
	section_of(&build, GPULEAK_SECTION_SITES)->offset =
		section_of(&build, GPULEAK_SECTION_STATE)->offset;
	EXPECT(!sites_readable(&build, &section, &damaged) && damaged == 1);
	*build.header = good;
	section_of(&build, GPULEAK_SECTION_SITES)->offset = 16;
	EXPECT(!sites_readable(&build, &section, &damaged) && damaged == 1);
	*build.header = good;
	section_of(&build, GPULEAK_SECTION_SITES)->size = UINT64_MAX;
	EXPECT(!sites_readable(&build, &section, &damaged) && damaged == 1);
	*build.header = good;
	build.header->section_count = UINT32_MAX;
	EXPECT(sites_readable(&build, &section, &damaged) && damaged == 1);
	build_release(&build);
}

/* Sections that lie beyond the file's end have items, but none of them is there. */
static void cut_sections_have_fewer_items(void)
{
	struct gpuleak_section *sites;
	struct trace_section section;
	struct build build;
	uint32_t damaged;

	build_init(&build, LAYOUT_SIZE_MIN);
	sites = section_of(&build, GPULEAK_SECTION_SITES);
	build.size = sites->offset + 2 * sizeof(struct gpuleak_site) + 100;
	EXPECT(sites_readable(&build, &section, &damaged));
	EXPECT_U64(section.present, 2);
	EXPECT_U64(section.items, sites->size / sizeof(struct gpuleak_site));
	build.size = sites->offset;
	EXPECT(sites_readable(&build, &section, &damaged));
	EXPECT_U64(section.present, 0);
	build_release(&build);
}

/* A newer minor version has more sections, and items that are longer at their end. */
static void newer_minors_are_read(void)
{
	struct gpuleak_section *sites;
	struct trace_section section;
	struct build build;
	uint32_t damaged;

	build_init(&build, LAYOUT_SIZE_MIN);
	build.header->minor = 7;
	build.header->sections[build.header->section_count++] =
		(struct gpuleak_section){.kind = 4711, .item_size = 1, .offset = 1 << 20};
	sites = section_of(&build, GPULEAK_SECTION_SITES);
	sites->item_size += 64;
	EXPECT(sites_readable(&build, &section, &damaged) && !damaged);
	EXPECT_U64(section.item_size, sizeof(struct gpuleak_site) + 64);
	build_release(&build);
}

/* The `pid` of the trace in the file, 0 where it is refused; `why` then says why. */
static uint32_t pid_in_file(struct trace_file *file, struct message *why)
{
	struct gpuleak_run run = {0};
	struct trace_section section;

	if (trace_file_open(file, test_path(), why) < 0)
		return 0;
	EXPECT(trace_file_section(file, GPULEAK_SECTION_RUN, sizeof(run), &section));
	EXPECT(trace_file_read(file, section.offset, &run, sizeof(run)));
	return run.pid;
}

/* A file with the traces of two processes, to tell the slots apart. */
static void write_slots(uint64_t first, uint64_t second, uint64_t cut)
{
	struct build build;
	uint32_t pid = 4242;
	uint64_t run_offset;

	build_init(&build, LAYOUT_SIZE_MIN);
	build.run->pid = 1111;
	run_offset = (uint64_t)((uint8_t *)build.run - build.bytes);
	build_slots(&build, first, second);
	memcpy(build.bytes + GPULEAK_PAGE + LAYOUT_SIZE_MIN + run_offset, &pid, sizeof(pid));
	build.size -= cut;
	write_trace(&build);
	build_release(&build);
}

static void the_slot_written_last_is_read(void)
{
	const uint64_t half = LAYOUT_SIZE_MIN / 2;
	struct trace_file file;
	struct message why;

	write_slots(7, 6, 0);
	EXPECT_U64(pid_in_file(&file, &why), 1111);
	EXPECT_U64(file.size, LAYOUT_SIZE_MIN);
	trace_file_release(&file);
	write_slots(7, 8, 0);
	EXPECT_U64(pid_in_file(&file, &why), 4242);
	trace_file_release(&file);
	write_slots(7, 0, 0);
	EXPECT_U64(pid_in_file(&file, &why), 1111);
	trace_file_release(&file);
	write_slots(7, 8, half);
	EXPECT_U64(pid_in_file(&file, &why), 4242);
	EXPECT(file.cut && file.size == half);
	trace_file_release(&file);
	write_slots(7, 8, LAYOUT_SIZE_MIN + half);
	EXPECT_U64(pid_in_file(&file, &why), 1111);
	trace_file_release(&file);
	write_slots(0, 0, 0);
	EXPECT_U64(pid_in_file(&file, &why), 0);
	EXPECT(strstr(why.text, ": neither of its two slots is whole"));
}

static void set_written(unsigned slot, uint64_t written)
{
	FILE *content = fopen(test_path(), "r+");

	if (!content)
		exit(TEST_FAIL);
	fseek(content,
	      (long)(offsetof(struct gpuleak_slots, slots) + slot * sizeof(struct gpuleak_slot)),
	      SEEK_SET);
	fwrite(&written, sizeof(written), 1, content);
	fclose(content);
}

/* The writer comes round to the slot that is being read: the other one is newer. */
static void a_slot_written_anew_is_noticed(void)
{
	struct trace_file file;
	struct message why;

	write_slots(7, 6, 0);
	EXPECT_U64(pid_in_file(&file, &why), 1111);
	set_written(1, 0);
	EXPECT(trace_file_steady(&file));
	set_written(1, 8);
	EXPECT(trace_file_steady(&file));
	set_written(0, 0);
	EXPECT(!trace_file_steady(&file));
	EXPECT_U64(file.slot, 1);
	EXPECT(trace_file_steady(&file));
	trace_file_release(&file);
}

/* Items come one by one, whatever lies between them. */
static void expect_items(uint32_t item_size, uint32_t count)
{
	struct trace_section section = {.items = count, .present = count, .item_size = item_size};
	struct trace_file file = {.fd = -1, .size = (uint64_t)count * item_size};
	struct items items;
	uint32_t seen = 0;
	FILE *content = fopen(test_path(), "w+");
	uint64_t value;

	if (!content)
		exit(TEST_FAIL);
	for (uint32_t i = 0; i < count; i++) {
		value = 1000 + i;
		fseek(content, (long)i * item_size, SEEK_SET);
		fwrite(&value, sizeof(value), 1, content);
	}
	fflush(content);
	EXPECT(ftruncate(fileno(content), (off_t)count * item_size) == 0);
	file.fd = fileno(content);
	items_init(&items, &file, &section, 0, UINT64_MAX);
	while (items_take(&items, &value, sizeof(value)))
		EXPECT_U64(value, 1000 + seen++);
	EXPECT_U64(seen, count);
	items_release(&items);
	fclose(content);
}

int main(void)
{
	bad_headers_are_refused();
	other_files_are_refused();
	bad_sections_are_left_out();
	cut_sections_have_fewer_items();
	newer_minors_are_read();
	the_slot_written_last_is_read();
	a_slot_written_anew_is_noticed();
	expect_items(8, 100000);
	expect_items(192, 3000);
	expect_items(300000, 5);
	expect_items(8, 0);
	unlink(test_path());
	return test_result();
}
