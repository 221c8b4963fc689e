#include "tracer/python_offsets.h"

#include <stddef.h>

#include "tracer/banned.h"

/* Objects with a 16-byte header; `ascii` and `wide` depend on the version. */
#define OBJECT(ascii, wide)                                                                       \
	{                                                                                         \
		.type = 8, .size = 16, .bytes_data = 32, .str_length = 16, .str_state = 32,       \
		.str_ascii = (ascii), .str_wide = (wide), .str_kind_shift = 2, .type_name = 24,   \
		.type_basicsize = 32, .type_dealloc = 48, .type_flags = 168, .type_members = 240, \
	}

/* A free-threaded build's header has 32 bytes; `shift` depends on the version. */
#define OBJECT_FREE_THREADED(shift)                                                               \
	{                                                                                         \
		.type = 24, .size = 32, .bytes_data = 48, .str_length = 32, .str_state = 48,      \
		.str_ascii = 56, .str_wide = 72, .str_kind_shift = (shift), .type_name = 40,      \
		.type_basicsize = 48, .type_dealloc = 64, .type_flags = 184, .type_members = 256, \
	}

#define CODE_3_8                                                                         \
	{                                                                                \
		.first_line = 40, .file = 104, .function = 112, .qualname = PYTHON_NONE, \
		.lines = 120, .bytecode = 48, .copies = PYTHON_NONE,                     \
		.first_traceable = PYTHON_NONE,                                          \
	}

#define CODE_3_12(bytecode_at, traceable_at)                                                   \
	{                                                                                      \
		.first_line = 68, .file = 112, .function = 120, .qualname = 128, .lines = 136, \
		.bytecode = (bytecode_at), .copies = PYTHON_NONE,                              \
		.first_traceable = (traceable_at),                                             \
	}

#define CODE_FREE_THREADED(bytecode_at, copies_at, traceable_at)                               \
	{                                                                                      \
		.first_line = 84, .file = 128, .function = 136, .qualname = 144, .lines = 152, \
		.bytecode = (bytecode_at), .copies = (copies_at),                              \
		.first_traceable = (traceable_at),                                             \
	}

#define WORDS_3_13                                                                               \
	{                                                                                        \
		.finalizing = 4, .state_frame = 23, .thread_id = 24, .previous = 29, .code = 30, \
		.instruction = 31, .owner = 33, .file = 35, .function = 36, .qualname = 37,      \
		.lines = 38, .first_line = 39, .bytecode = 43, .type = 45, .size = 65,           \
		.bytes_data = 66, .str_state = 68, .str_length = 69, .str_ascii = 70,            \
	}

#define WORDS_3_14                                                                               \
	{                                                                                        \
		.finalizing = 4, .state_frame = 26, .thread_id = 27, .previous = 32, .code = 33, \
		.instruction = 34, .owner = 36, .copy_index = 38, .file = 40, .function = 41,    \
		.qualname = 42, .lines = 43, .first_line = 44, .bytecode = 48, .copies = 49,     \
		.type = 51, .size = 75, .bytes_data = 76, .str_state = 78, .str_length = 79,     \
		.str_ascii = 80,                                                                 \
	}

#define WORDS_3_15                                                                               \
	{                                                                                        \
		.finalizing = 4, .state_frame = 26, .thread_id = 30, .previous = 40, .code = 41, \
		.instruction = 42, .owner = 44, .copy_index = 46, .file = 48, .function = 49,    \
		.qualname = 50, .lines = 51, .first_line = 52, .bytecode = 56, .copies = 57,     \
		.type = 59, .size = 87, .bytes_data = 88, .str_state = 90, .str_length = 91,     \
		.str_ascii = 92,                                                                 \
	}

const struct python_offsets python_offsets[] = {
	{
		.minor = 8,
		.line_format = PYTHON_LINES_LNOTAB,
		.unit = 1,
		.thread_id = 176,
		.chain = PYTHON_CHAIN_3_8,
		.code = CODE_3_8,
		.object = OBJECT(48, 72),
		.runtime = {.initializing = 0, .finalizing = 16, .key = 1392},
		.collector = {.in_runtime = true, .before_garbage = 8},
	},
	{
		.minor = 9,
		.line_format = PYTHON_LINES_LNOTAB,
		.unit = 1,
		.thread_id = 176,
		.chain = PYTHON_CHAIN_3_8,
		.code = CODE_3_8,
		.object = OBJECT(48, 72),
		.runtime = {.initializing = 0, .finalizing = 16, .key = 584},
		.collector = {.before_garbage = 8},
	},
	{
		.minor = 10,
		.line_format = PYTHON_LINES_TABLE,
		.unit = 2,
		.thread_id = 176,
		.chain = PYTHON_CHAIN_3_10,
		.code = CODE_3_8,
		.object = OBJECT(48, 72),
		.runtime = {.initializing = 0, .finalizing = 16, .key = 584},
		.collector = {.before_garbage = 8},
	},
	{
		.minor = 11,
		.line_format = PYTHON_LINES_LOCATIONS,
		.thread_id = 152,
		.chain = PYTHON_CHAIN_3_11,
		.code =
			{
				.first_line = 72,
				.file = 112,
				.function = 120,
				.qualname = 128,
				.lines = 136,
				.bytecode = 184,
				.copies = PYTHON_NONE,
				.first_traceable = 168,
			},
		.object = OBJECT(48, 72),
		.runtime = {.initializing = 4, .finalizing = 24, .key = 592},
		.collector = {.before_garbage = 8},
	},
	{
		.minor = 12,
		.line_format = PYTHON_LINES_LOCATIONS,
		.thread_id = 136,
		.chain = PYTHON_CHAIN_3_12,
		.code = CODE_3_12(192, 176),
		.object = OBJECT(40, 56),
		.runtime = {.initializing = 4, .finalizing = 24, .key = 1544},
		.collector = {.before_garbage = 8},
	},
	{
		.minor = 13,
		.line_format = PYTHON_LINES_LOCATIONS,
		.thread_id = 152,
		.chain = PYTHON_CHAIN_3_13,
		.code = CODE_3_12(200, 184),
		.object = OBJECT(40, 56),
		.runtime = {.initializing = 588, .finalizing = 608, .key = 2160},
		.collector = {.before_garbage = 8, .state_word = 10, .collecting_word = 72},
		.words = WORDS_3_13,
	},
	{
		.minor = 14,
		.line_format = PYTHON_LINES_LOCATIONS,
		.thread_id = 152,
		.chain = PYTHON_CHAIN_3_14,
		.code = CODE_3_12(208, 192),
		.object = OBJECT(40, 56),
		.runtime = {.initializing = 764, .finalizing = 784, .key = 2336},
		.collector = {.before_garbage = 8, .state_word = 11, .collecting_word = 82},
		.words = WORDS_3_14,
	},
	{
		.minor = 15,
		.line_format = PYTHON_LINES_LOCATIONS,
		.thread_id = 176,
		.chain = PYTHON_CHAIN_3_14,
		.code = CODE_3_12(208, 192),
		.object = OBJECT(40, 56),
		.runtime = {.initializing = 892, .finalizing = 912, .key = PYTHON_NONE},
		.collector = {.before_garbage = 16, .state_word = 11, .collecting_word = 94},
		.words = WORDS_3_15,
	},
	{
		.minor = 13,
		.free_threaded = true,
		.line_format = PYTHON_LINES_LOCATIONS,
		.thread_id = 152,
		.chain = PYTHON_CHAIN_3_13,
		.code = CODE_FREE_THREADED(216, PYTHON_NONE, 200),
		.object = OBJECT_FREE_THREADED(2),
		.runtime = {.initializing = 588, .finalizing = 608, .key = 2160},
		.collector = {.before_garbage = 8, .state_word = 10, .collecting_word = 72},
		.words = WORDS_3_13,
	},
	{
		.minor = 14,
		.free_threaded = true,
		.line_format = PYTHON_LINES_LOCATIONS,
		.thread_id = 152,
		.chain = PYTHON_CHAIN_3_14_FREE_THREADED,
		.code = CODE_FREE_THREADED(232, 224, 208),
		.object = OBJECT_FREE_THREADED(8),
		.runtime = {.initializing = 764, .finalizing = 784, .key = 2336},
		.collector = {.before_garbage = 8, .state_word = 11, .collecting_word = 82},
		.words = WORDS_3_14,
	},
	{
		.minor = 15,
		.free_threaded = true,
		.line_format = PYTHON_LINES_LOCATIONS,
		.thread_id = 176,
		.chain = PYTHON_CHAIN_3_14_FREE_THREADED,
		.code = CODE_FREE_THREADED(232, 224, 208),
		.object = OBJECT_FREE_THREADED(8),
		.runtime = {.initializing = 892, .finalizing = 912, .key = PYTHON_NONE},
		.collector = {.before_garbage = 16, .state_word = 11, .collecting_word = 94},
		.words = WORDS_3_15,
	},
};

const unsigned python_offsets_count = sizeof(python_offsets) / sizeof(python_offsets[0]);

const struct python_offsets *python_offsets_find(unsigned minor, bool free_threaded)
{
	for (unsigned i = 0; i < python_offsets_count; i++) {
		const struct python_offsets *offsets = &python_offsets[i];

		if (offsets->minor == minor && offsets->free_threaded == free_threaded)
			return offsets;
	}
	return NULL;
}
