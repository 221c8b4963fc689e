/* Sections of any size fit the file, in order, without overlap. */
#include "trace/layout.h"

#include "test.h"

static void sections_fit(uint64_t size, uint64_t ring)
{
	struct gpuleak_file_header header;
	uint64_t end = sizeof(header);

	EXPECT(layout_header(&header, size, ring));
	EXPECT(header.file_size <= size);
	for (uint32_t i = 0; i < header.section_count; i++) {
		const struct gpuleak_section *section = &header.sections[i];

		EXPECT_U64(section->offset % GPULEAK_PAGE, 0);
		EXPECT_U64(section->size % section->item_size, 0);
		EXPECT(section->offset >= end);
		EXPECT(section->size >= section->item_size);
		end = section->offset + section->size;
	}
	EXPECT(end <= header.file_size);
	if (ring)
		EXPECT(layout_section(&header, GPULEAK_SECTION_RING)->size >= ring);
}

int main(void)
{
	struct gpuleak_file_header header;

	for (uint64_t size = LAYOUT_SIZE_MIN; size < 1ull << 32; size = size * 3 / 2 + 12345)
		sections_fit(size, 0);
	sections_fit(64ull << 20, 1ull << 20);
	sections_fit(64ull << 20, 60ull << 20);
	sections_fit(2ull << 30, 1ull << 30);
	EXPECT(!layout_header(&header, LAYOUT_SIZE_MIN - 1, 0));
	EXPECT(!layout_header(&header, LAYOUT_SIZE_MAX + GPULEAK_PAGE, 0));
	EXPECT(!layout_header(&header, 64ull << 20, 64ull << 20));
	EXPECT(!layout_header(&header, 64ull << 20, UINT64_MAX - 100));
	EXPECT(!layout_section(&header, 999));
	return test_result();
}
