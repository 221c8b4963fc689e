/*
 * Where CPython keeps what we read, by version.  Constants, found by compiling
 * against each version's own headers; x86-64 and aarch64 agree.
 */
#ifndef GPULEAK_TRACER_PYTHON_OFFSETS_H
#define GPULEAK_TRACER_PYTHON_OFFSETS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	PYTHON_NONE = 0xffff
}; /* this version has no such field */

/* How frames are chained; versions that share one share the walk. */
struct python_chain {
	uint16_t state_frame;  /* thread state: the innermost frame, or the holder of it */
	uint16_t holder_frame; /* in that holder (3.11, 3.12): the innermost frame */
	uint16_t previous;     /* frame: the calling one */
	uint16_t code;	       /* frame: its code object; 3.14: the low bits are a tag */
	uint16_t instruction;  /* frame: pointer, or up to 3.10 an int counting from the start */
	uint16_t owner;	       /* frame: one byte; from 3.12 on 3 and above: not a Python frame */
	uint16_t locals;       /* frame: its local variables, the arguments first */
	uint16_t copy_index;   /* frame, 3.14 free-threaded: which copy of the bytecode runs */
	bool instruction_is_int;
	bool shims; /* frames that aren't Python's stand in the chain */
};

/* Where a code object keeps its parts. */
struct python_code_offsets {
	uint16_t first_line;	  /* int */
	uint16_t file, function;  /* str */
	uint16_t qualname;	  /* str */
	uint16_t lines;		  /* bytes: the line table */
	uint16_t bytecode;	  /* up to 3.10: bytes object; later: the code itself */
	uint16_t copies;	  /* 3.14 free-threaded: copies of the bytecode, one per thread */
	uint16_t first_traceable; /* int, code units; frames before it are incomplete */
};

/* Objects and types. */
struct python_object_offsets {
	uint16_t type;	     /* any object */
	uint16_t size;	     /* ob_size: bytes, and code objects from 3.11 on */
	uint16_t bytes_data; /* bytes object */
	uint16_t str_length, str_state;
	uint16_t str_ascii;	/* compact ASCII characters */
	uint16_t str_wide;	/* other compact characters; not compact: pointer to them */
	uint8_t str_kind_shift; /* in the state: 3 bits kind, then compact, then ascii */
	uint16_t type_name, type_basicsize, type_dealloc, type_flags, type_members;
};

/*
 * _PyRuntime's parts, for reading them directly instead of by calls.  Minor
 * releases may move them: each is checked before it is believed.
 */
struct python_runtime_offsets {
	uint16_t initializing; /* four ints on the way up, all 1 but perhaps the first; then .. */
	uint16_t finalizing;   /* .. a pointer, not NULL once the end began */
	uint16_t key;	       /* near here: struct { int made; pthread_key_t key; } */
};

/* The state of the garbage collector. */
struct python_collector_offsets {
	bool in_runtime;	/* up to 3.8 it is part of _PyRuntime, later of the interpreter */
	uint8_t before_garbage; /* so many bytes before gc.garbage: the int `collecting` */
	/* Words of _Py_DebugOffsets (3.13 and later): where it is, and `collecting` in it. */
	uint8_t state_word, collecting_word;
};

/* Which 8-byte word of _Py_DebugOffsets (3.13 and later) tells which offset. */
struct python_debug_words {
	uint8_t finalizing, state_frame, thread_id;
	uint8_t previous, code, instruction, owner, copy_index;
	uint8_t file, function, qualname, lines, first_line, bytecode, copies;
	uint8_t type, size, bytes_data, str_state, str_length, str_ascii;
};

enum python_line_format {
	PYTHON_LINES_LNOTAB = 0,    /* up to 3.9 */
	PYTHON_LINES_TABLE = 1,	    /* 3.10 */
	PYTHON_LINES_LOCATIONS = 2, /* 3.11 and later */
};

struct python_offsets {
	uint8_t minor; /* of Python 3.x */
	bool free_threaded;
	uint8_t line_format; /* enum python_line_format */
	uint8_t unit;	     /* bytes that one step of an int instruction means */
	uint16_t thread_id;  /* thread state: pthread_self() as unsigned long */
	struct python_chain chain;
	struct python_code_offsets code;
	struct python_object_offsets object;
	struct python_runtime_offsets runtime;
	struct python_collector_offsets collector;
	struct python_debug_words words;
};

/* The chains, so that each walk is compiled with its own as constants. */
extern const struct python_offsets python_offsets[];
extern const unsigned python_offsets_count;

/* NULL for a version we don't know. */
const struct python_offsets *python_offsets_find(unsigned minor, bool free_threaded);

#define PYTHON_CHAIN_3_8                                                                         \
	{                                                                                        \
		.locals = 360, .state_frame = 24, .holder_frame = PYTHON_NONE, .previous = 24,   \
		.code = 32, .instruction = 104, .owner = PYTHON_NONE, .copy_index = PYTHON_NONE, \
		.instruction_is_int = true,                                                      \
	}
#define PYTHON_CHAIN_3_10                                                                       \
	{                                                                                       \
		.locals = 352, .state_frame = 24, .holder_frame = PYTHON_NONE, .previous = 24,  \
		.code = 32, .instruction = 96, .owner = PYTHON_NONE, .copy_index = PYTHON_NONE, \
		.instruction_is_int = true,                                                     \
	}
#define PYTHON_CHAIN_3_11                                                                       \
	{                                                                                       \
		.locals = 72, .state_frame = 56, .holder_frame = 8, .previous = 48, .code = 32, \
		.instruction = 56, .owner = 69, .copy_index = PYTHON_NONE,                      \
	}
#define PYTHON_CHAIN_3_12                                                                     \
	{                                                                                     \
		.locals = 72, .state_frame = 56, .holder_frame = 0, .previous = 8, .code = 0, \
		.instruction = 56, .owner = 70, .copy_index = PYTHON_NONE, .shims = true,     \
	}
#define PYTHON_CHAIN_3_13                                                                    \
	{                                                                                    \
		.locals = 72, .state_frame = 72, .holder_frame = PYTHON_NONE, .previous = 8, \
		.code = 0, .instruction = 56, .owner = 70, .copy_index = PYTHON_NONE,        \
		.shims = true,                                                               \
	}
#define PYTHON_CHAIN_3_14                                                                    \
	{                                                                                    \
		.locals = 80, .state_frame = 72, .holder_frame = PYTHON_NONE, .previous = 8, \
		.code = 0, .instruction = 56, .owner = 74, .copy_index = PYTHON_NONE,        \
		.shims = true,                                                               \
	}
#define PYTHON_CHAIN_3_14_FREE_THREADED                                                     \
	{                                                                                   \
		.locals = PYTHON_NONE, .state_frame = 72, .holder_frame = PYTHON_NONE,      \
		.previous = 8, .code = 0, .instruction = 56, .owner = 78, .copy_index = 72, \
		.shims = true,                                                              \
	}

#endif
