#include "tracer/stack.h"

#include <string.h>

#include "tracer/code_watch.h"
#include "tracer/native_names.h"
#include "tracer/settings.h"
#include "tracer/trace_writer.h"

#include "tracer/banned.h"

/* The linker's names for where this library begins and ends. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

/* Written by stack_attach(), read-only then. */
static bool native_ready;

void stack_attach(void)
{
	if (settings.stacks != SETTINGS_STACKS_NATIVE && settings.stacks != SETTINGS_STACKS_NONE)
		python_attach();
	if (settings.stacks == SETTINGS_STACKS_AUTO || settings.stacks == SETTINGS_STACKS_NATIVE)
		native_ready = native_ready || native_stack_open();
}

bool stack_native_ready(void)
{
	return native_ready;
}

static bool is_ours(const void *address)
{
	return (const char *)address >= __ehdr_start && (const char *)address < _end;
}

static void capture_native(struct stack *stack)
{
	unsigned count = native_stack_walk(&stack->native);
	unsigned ours = 0;

	while (ours < count && is_ours(native_trail_address(&stack->native, ours)))
		ours++;
	stack->native_skip = ours;
	stack->kind = STACK_NATIVE;
	stack->hash = native_trail_hash(&stack->native, ours);
}

void stack_capture(struct stack *stack)
{
	enum python_stack_state state = PYTHON_STACK_NONE;

	stack->kind = STACK_NONE;
	stack->hash = 0;
	stack->backward = false;
	if (settings.stacks == SETTINGS_STACKS_NONE)
		return;
	if (settings.stacks != SETTINGS_STACKS_NATIVE)
		state = python_stack_walk(&stack->python);
	if (state == PYTHON_STACK_FRAMES) {
		stack->kind = STACK_PYTHON;
		stack->hash = stack->python.hash;
		return;
	}
	stack->backward = state == PYTHON_STACK_EMPTY;
	if (native_ready)
		capture_native(stack);
}

static gpuleak_string_id text(const char *string)
{
	return *string ? trace_string(string, strlen(string)) : 0;
}

/* A frame that Python itself hides gives GPULEAK_SITE_NONE and `*hidden`. */
static uint32_t python_frame(const struct stack *stack, unsigned i, bool *hidden)
{
	struct python_frame frame;
	struct gpuleak_frame written = {.language = GPULEAK_LANGUAGE_PYTHON};

	*hidden = false;
	if (python_frame_resolve(&stack->python, i, &frame)) {
		*hidden = frame.hidden;
		if (frame.hidden)
			return GPULEAK_SITE_NONE;
		written.file = text(frame.file);
		written.function = text(frame.function);
		written.qualname = text(frame.qualname);
		written.line = frame.line;
		written.first_line = frame.first_line;
		written.offset = frame.offset;
		code_watch_seen(frame.code);
	}
	return trace_frame(&written, NULL);
}

static uint32_t native_frame(const void *address)
{
	struct gpuleak_frame written;

	native_names_frame(address, &written);
	return trace_frame(&written, address);
}

static uint32_t depth_of(const struct stack *stack)
{
	switch (stack->kind) {
	case STACK_PYTHON:
		return stack->python.depth;
	case STACK_NATIVE:
		return stack->native.count - stack->native_skip;
	default:
		return 0;
	}
}

static uint32_t write_frame(const struct stack *stack, uint32_t i, bool *hidden)
{
	*hidden = false;
	return stack->kind == STACK_PYTHON
		       ? python_frame(stack, i, hidden)
		       : native_frame(native_trail_address(&stack->native, stack->native_skip + i));
}

bool stack_write(const struct stack *stack, uint32_t *word, uint64_t *key)
{
	uint32_t frames[PYTHON_STACK_MAX];
	uint32_t count = 0;
	uint32_t depth = depth_of(stack);
	bool cut = stack->kind == STACK_PYTHON && stack->python.cut;

	for (uint32_t i = 0; i < depth && count < PYTHON_STACK_MAX; i++) {
		bool hidden;

		frames[count] = write_frame(stack, i, &hidden);
		if (hidden)
			continue;
		if (frames[count] == GPULEAK_SITE_NONE)
			return false;
		count++;
	}
	return trace_stack(frames, count, cut ? GPULEAK_STACK_CUT : 0, word, key);
}
