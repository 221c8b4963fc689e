#include <string.h>

#include "tracer/python_lines.h"
#include "tracer/python_runtime.h"
#include "tracer/python_stack.h"
#include "tracer/python_text.h"
#include "tracer/python_thread.h"

#include "tracer/banned.h"

/* Set where a generator owns the frame: that one is complete from the start. */
enum {
	OWNER_GENERATOR = 1
};

/* Threads whose copy of the bytecode we look up; beyond, lines are unknown. */
enum {
	COPIES_MAX = 8000
};

/*
 * Free-threaded 3.14 and later run copies of the bytecode, one a thread.  The
 * list of them may be replaced under us: read it once, and trust only its bounds.
 */
static const uint8_t *bytecode_copy(const uint8_t *frame, const uint8_t *code,
				    const struct python_offsets *offsets)
{
	int32_t index = python_int(frame, offsets->chain.copy_index);
	const uint8_t *copies;
	int64_t count;

	if (index == 0)
		return code + offsets->code.bytecode;
	copies = python_pointer(code, offsets->code.copies);
	if (!copies)
		return NULL;
	count = (int64_t)python_word(copies, 0);
	if (index < 0 || index >= count || index > COPIES_MAX)
		return NULL;
	return python_pointer(copies, (uint16_t)(8 + 8 * index));
}

/* Bytes of bytecode before the frame's instruction; -1: not started or unknown. */
static int64_t bytecode_offset(const uint8_t *frame, const uint8_t *code,
			       const struct python_offsets *offsets)
{
	const struct python_chain *chain = &offsets->chain;
	const uint8_t *start = code + offsets->code.bytecode;
	int64_t size, offset;

	if (chain->instruction_is_int) {
		offset = (int64_t)python_int(frame, chain->instruction) * offsets->unit;
		start = python_pointer(code, offsets->code.bytecode);
		size = (int64_t)python_word(start, offsets->object.size);
	} else {
		if (chain->copy_index != PYTHON_NONE)
			start = bytecode_copy(frame, code, offsets);
		if (!start)
			return -1;
		offset = python_pointer(frame, chain->instruction) - start;
		size = 2 * (int64_t)python_word(code, offsets->object.size);
	}
	return offset >= 0 && offset < size ? offset : -1;
}

/*
 * Python shows a frame only when it got past its first instructions, which make
 * its cells and copy its closure.
 */
static bool is_incomplete(const uint8_t *frame, const uint8_t *code, int64_t offset,
			  const struct python_offsets *offsets)
{
	if (offsets->code.first_traceable == PYTHON_NONE)
		return false;
	if (frame[offsets->chain.owner] == OWNER_GENERATOR)
		return false;
	return offset < 2 * (int64_t)python_int(code, offsets->code.first_traceable);
}

static uint32_t line_of(const uint8_t *code, int64_t offset, const struct python_offsets *offsets)
{
	const struct python_object_offsets *object = &offsets->object;
	const uint8_t *table = python_pointer(code, offsets->code.lines);
	struct python_lines lines = {
		.format = (enum python_line_format)offsets->line_format,
		.first_line = python_int(code, offsets->code.first_line),
	};
	int32_t line;

	if (offset < 0 || !table ||
	    python_pointer(table, object->type) != python_runtime.bytes_type)
		return lines.first_line > 0 ? (uint32_t)lines.first_line : 0;

	lines.table = table + object->bytes_data;
	lines.size = python_word(table, object->size);
	line = python_line(&lines, offset);
	if (line <= 0)
		line = lines.first_line;
	return line > 0 ? (uint32_t)line : 0;
}

/* The frame's code object, or NULL when what stands there isn't one. */
static const uint8_t *code_of(const uint8_t *frame, const struct python_offsets *offsets)
{
	uintptr_t tagged = python_word(frame, offsets->chain.code);
	const uint8_t *code = (const uint8_t *)(tagged & ~(uintptr_t)7);

	if (!code || python_pointer(code, offsets->object.type) != python_runtime.code_type)
		return NULL;
	return code;
}

static void frame_clear(struct python_frame *frame)
{
	frame->code = NULL;
	frame->file[0] = '\0';
	frame->function[0] = '\0';
	frame->qualname[0] = '\0';
	frame->line = 0;
	frame->first_line = 0;
	frame->offset = 0;
	frame->hidden = false;
}

bool python_frame_resolve(const struct python_stack *stack, unsigned i, struct python_frame *frame)
{
	const struct python_offsets *offsets = python_runtime.offsets;
	const uint8_t *from, *code;
	int32_t first_line;
	int64_t offset;

	frame_clear(frame);
	if (i >= stack->depth || python_is_finalizing())
		return false;
	from = stack->frame[i];
	code = code_of(from, offsets);
	if (!code)
		return false;

	offset = bytecode_offset(from, code, offsets);
	first_line = python_int(code, offsets->code.first_line);
	frame->code = code;
	frame->first_line = first_line > 0 ? (uint32_t)first_line : 0;
	frame->offset = offset > 0 ? (uint32_t)offset : 0;
	frame->line = line_of(code, offset, offsets);
	frame->hidden = is_incomplete(from, code, offset, offsets);

	python_text_copy(python_pointer(code, offsets->code.file), &offsets->object, frame->file,
			 sizeof(frame->file));
	python_text_copy(python_pointer(code, offsets->code.function), &offsets->object,
			 frame->function, sizeof(frame->function));
	if (offsets->code.qualname != PYTHON_NONE)
		python_text_copy(python_pointer(code, offsets->code.qualname), &offsets->object,
				 frame->qualname, sizeof(frame->qualname));
	return true;
}

const void *python_frame_code(const struct python_stack *stack, unsigned i)
{
	if (i >= stack->depth || python_is_finalizing())
		return NULL;
	return code_of(stack->frame[i], python_runtime.offsets);
}

uint64_t python_frame_argument(const struct python_stack *stack, unsigned i)
{
	const struct python_offsets *offsets = python_runtime.offsets;
	uint64_t value;

	if (i >= stack->depth || offsets->chain.locals == PYTHON_NONE || python_is_finalizing())
		return 0;
	memcpy(&value, (const uint8_t *)stack->frame[i] + offsets->chain.locals, sizeof(value));
	return value & ~(uint64_t)3; /* 3.14: the low bits are a tag */
}
