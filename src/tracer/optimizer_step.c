#include "tracer/optimizer_step.h"

#include <stddef.h>
#include <stdint.h>

#include "tracer/thread.h"

#include "tracer/banned.h"

/* Where the outermost step() of the thread began. */
static _Thread_local struct {
	const void *frame; /* only for comparing, as `code` */
	const void *code;
	uint32_t depth; /* frames up to this one; 0: unknown */
} begun __attribute__((tls_model("initial-exec")));

void optimizer_step_forget(void)
{
	tracer_thread.in_optimizer = 0;
}

/* Where the thread is now; NULL where that can't be told. */
static const struct python_stack *walk(void)
{
	struct stack *stack = thread_stack();

	if (!stack || python_stack_walk(&stack->python) != PYTHON_STACK_FRAMES || stack->python.cut)
		return NULL;
	return &stack->python;
}

/* Frames are told apart by where they lie, how deep, and what they run. */
static bool is_begun(const struct python_stack *stack)
{
	uint32_t from_innermost = stack->depth - begun.depth;

	return stack->depth >= begun.depth && stack->frame[from_innermost] == begun.frame &&
	       python_frame_code(stack, from_innermost) == begun.code;
}

static bool stands(const struct python_stack *stack)
{
	if (!begun.depth || !stack || is_begun(stack))
		return true;
	tracer_thread.in_optimizer = 0;
	return false;
}

bool optimizer_step_stands(const struct stack *stack)
{
	if (!stack)
		return stands(walk());
	return stands(stack->kind == STACK_PYTHON && !stack->python.cut ? &stack->python : NULL);
}

void optimizer_step_begins(void)
{
	const struct python_stack *stack = walk();

	if (!tracer_thread.in_optimizer || !stands(stack)) {
		begun.depth = stack ? stack->depth : 0;
		begun.frame = stack ? stack->frame[0] : NULL;
		begun.code = stack ? python_frame_code(stack, 0) : NULL;
	}
	tracer_thread.in_optimizer++;
}

void optimizer_step_ends(void)
{
	if (tracer_thread.in_optimizer > 0)
		tracer_thread.in_optimizer--;
}
