#include "tracer/stack.h"

#include <string.h>

#include "tracer/backward_pass.h"
#include "tracer/code_watch.h"
#include "tracer/guard.h"
#include "tracer/hot.h"
#include "tracer/native_names.h"
#include "tracer/settings.h"
#include "tracer/trace_writer.h"

#include "tracer/banned.h"

/* Written by stack_attach(), read-only then. */
HOT_DATA static bool native_ready, python_wanted;

void stack_attach(void)
{
	python_wanted = settings.stacks != SETTINGS_STACKS_NATIVE &&
			settings.stacks != SETTINGS_STACKS_NONE;
	if (python_wanted)
		python_attach();
	if (settings.stacks == SETTINGS_STACKS_AUTO || settings.stacks == SETTINGS_STACKS_NATIVE)
		native_ready = native_ready || native_stack_open();
}

bool stack_native_ready(void)
{
	return native_ready;
}

HOT_CODE void stack_capture(struct stack *stack, const uintptr_t *frame)
{
	enum python_stack_state state = PYTHON_STACK_NONE;

	stack->kind = STACK_NONE;
	stack->hash = 0;
	stack->caller = tracer_thread.of_autograd ? backward_caller() : 0;
	stack->backward = false;
	if (__builtin_expect(python_wanted, 1))
		state = python_stack_walk(&stack->python);
	if (__builtin_expect(state == PYTHON_STACK_FRAMES, 1)) {
		stack->kind = STACK_PYTHON;
		stack->hash = stack->python.hash;
		return;
	}
	stack->backward = state == PYTHON_STACK_EMPTY;
	if (!native_ready)
		return;
	stack->kind = STACK_NATIVE;
	stack->frame = frame;
	stack->hash = native_stack_recognise(frame, &stack->native);
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

/* Frames to be written, innermost first. */
struct frames {
	uint32_t numbers[2 * PYTHON_STACK_MAX];
	uint32_t count;
	uint32_t flags;
};
_Static_assert((int)NATIVE_STACK_MAX <= (int)PYTHON_STACK_MAX, "see its room");

static bool add_python(const struct stack *stack, struct frames *frames)
{
	for (uint32_t i = 0; i < stack->python.depth; i++) {
		bool hidden;
		uint32_t number = python_frame(stack, i, &hidden);

		if (hidden)
			continue;
		if (number == GPULEAK_SITE_NONE)
			return false;
		frames->numbers[frames->count++] = number;
	}
	frames->flags |= stack->python.cut ? GPULEAK_STACK_CUT : 0u;
	return true;
}

/* Only now are the addresses wanted: the walk that recognised the stack kept none. */
static bool add_native(const struct stack *stack, struct frames *frames)
{
	struct native_stack native;

	native_stack_walk(stack->frame, &native);
	for (uint32_t i = 0; i < native.count; i++) {
		uint32_t number = native_frame((const void *)native.addresses[i]);

		if (number == GPULEAK_SITE_NONE)
			return false;
		frames->numbers[frames->count++] = number;
	}
	return true;
}

/* The stack that called backward() was written when it did. */
static void add_caller(const struct stack *stack, struct frames *frames)
{
	const uint32_t *caller = trace.stacks + stack->caller;
	uint32_t count = caller[0];

	memcpy(frames->numbers + frames->count, caller + 2, count * sizeof(*caller));
	frames->count += count;
	frames->flags |= caller[1] | count << GPULEAK_STACK_CALLER_SHIFT;
}

bool stack_write(const struct stack *stack, uint32_t *word, uint64_t *key)
{
	struct frames frames;

	frames.count = frames.flags = 0;
	if (stack->kind == STACK_PYTHON && !add_python(stack, &frames))
		return false;
	if (stack->kind == STACK_NATIVE && !add_native(stack, &frames))
		return false;
	if (stack->caller)
		add_caller(stack, &frames);
	return trace_stack(frames.numbers, frames.count, frames.flags, word, key);
}
