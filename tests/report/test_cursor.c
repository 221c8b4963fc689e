/* Bytes that end where memory ends. */
#include "report/cursor.h"

#include "report/names.h"
#include "test_files.h"

static void cut_items_are_refused(void)
{
	uint64_t item = 0x1122334455667788;

	for (size_t size = 0; size < sizeof(item); size++) {
		struct cursor cursor = cursor_over(at_edge(&item, size), size);
		const uint8_t *before = cursor.at;
		uint64_t out;

		EXPECT(!cursor_take(&cursor, &out, sizeof(out)));
		EXPECT(!cursor_skip(&cursor, sizeof(out)));
		EXPECT(!cursor_skip(&cursor, UINT64_MAX));
		EXPECT(!cursor_bytes(&cursor, size + 1));
		EXPECT(cursor.at == before);
		EXPECT_U64(cursor_left(&cursor), size);
	}
}

static void whole_items_are_taken(void)
{
	static const uint8_t bytes[] = {1, 0, 0, 0, 2, 0, 0, 0};
	struct cursor cursor = cursor_over(at_edge(bytes, sizeof(bytes)), sizeof(bytes));
	uint32_t first = 0, second = 0;

	EXPECT(cursor_take(&cursor, &first, sizeof(first)));
	EXPECT(cursor_take(&cursor, &second, sizeof(second)));
	EXPECT_U64(first, 1);
	EXPECT_U64(second, 2);
	EXPECT_U64(cursor_left(&cursor), 0);
	EXPECT(cursor_take(&cursor, &first, 0));
}

/* A string's length may point anywhere. */
static void strings_end_with_the_section(void)
{
	static const uint8_t bytes[] = {0,   0, 0, 0, 3, 0, 0,	 0,   'a', 'b',
					'c', 0, 9, 0, 0, 0, 'd', 'e', 'f', 'g'};

	for (size_t size = 0; size <= sizeof(bytes); size += 4) {
		struct names names = {
			.strings = (uint8_t *)(uintptr_t)at_edge(bytes, size),
			.strings_size = size,
		};
		struct text text;

		EXPECT(names_string(&names, 0, &text) && !text.bytes);
		EXPECT(names_string(&names, 1, &text) == (size >= 12));
		EXPECT(size < 12 || text_is(text, "abc"));
		EXPECT(!names_string(&names, 3, &text));
		EXPECT(!names_string(&names, 5, &text));
		EXPECT(!names_string(&names, UINT32_MAX, &text));
		EXPECT(!text.bytes);
	}
}

static void stacks_end_with_the_section(void)
{
	static const uint32_t words[] = {2, GPULEAK_STACK_CUT, 0, 7, 0xffffffff, 0, 1};

	for (size_t count = 0; count <= 7; count++) {
		struct gpuleak_frame frame = {.language = GPULEAK_LANGUAGE_PYTHON};
		struct names names = {
			.stacks = (uint32_t *)(uintptr_t)at_edge(words, count * 4),
			.stack_words = count,
			.frames = &frame,
			.frame_count = 1,
		};
		struct stack stack;

		EXPECT(names_stack(&names, 0, &stack) == (count >= 4));
		if (count >= 4) {
			EXPECT(stack.cut && stack.count == 2);
			EXPECT(names_frame(&names, &stack, 0) == &frame);
			EXPECT(!names_frame(&names, &stack, 1));
			EXPECT(!names_frame(&names, &stack, 2));
		}
		EXPECT(!names_stack(&names, 4, &stack) && !stack.count);
		EXPECT(!names_stack(&names, UINT32_MAX, &stack));
	}
}

/* More of the caller's than there are: then all are. */
static void stacks_have_callers(void)
{
	static const struct {
		uint32_t count, callers, own;
	} cases[] = {{3, 0, 3}, {3, 1, 2}, {3, 3, 0}, {3, 4, 0}, {3, 0xffff, 0}};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t words[] = {cases[i].count, cases[i].callers << GPULEAK_STACK_CALLER_SHIFT,
				    0, 0, 0};
		struct names names = {.stacks = words, .stack_words = 5};
		struct stack stack;

		EXPECT(names_stack(&names, 0, &stack) && stack.count == 3 && !stack.cut);
		EXPECT_U64(stack.own, cases[i].own);
	}
}

/* Frames beyond those that are read: the caller's go first. */
static void long_stacks_are_cut(void)
{
	static uint32_t words[2 + 600] = {600, 200u << GPULEAK_STACK_CALLER_SHIFT};
	struct names names = {.stacks = words, .stack_words = 602};
	struct stack stack;

	EXPECT(names_stack(&names, 0, &stack) && stack.cut);
	EXPECT_U64(stack.count, STACK_FRAMES_MAX);
	EXPECT_U64(stack.own, 400);
	words[1] = 10u << GPULEAK_STACK_CALLER_SHIFT;
	EXPECT(names_stack(&names, 0, &stack));
	EXPECT_U64(stack.own, STACK_FRAMES_MAX);
}

int main(void)
{
	cut_items_are_refused();
	whole_items_are_taken();
	strings_end_with_the_section();
	stacks_end_with_the_section();
	stacks_have_callers();
	long_stacks_are_cut();
	return test_result();
}
