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

static const struct stack *capture(void)
{
	struct stack *stack = thread_stack();

	if (stack)
		stack_capture(stack, __builtin_frame_address(0));
	return stack;
}

static bool tells_frames(const struct stack *stack)
{
	return stack && stack->kind == STACK_PYTHON && !stack->python.cut;
}

bool optimizer_step_stands(const struct stack *stack)
{
	uint32_t from_innermost;

	if (!stack)
		stack = capture();
	if (!begun.depth || !tells_frames(stack))
		return true;
	from_innermost = stack->python.depth - begun.depth;
	if (stack->python.depth >= begun.depth &&
	    stack->python.frame[from_innermost] == begun.frame &&
	    python_frame_code(&stack->python, from_innermost) == begun.code)
		return true;
	tracer_thread.in_optimizer = 0;
	return false;
}

void optimizer_step_begins(void)
{
	const struct stack *stack = capture();

	if (!optimizer_step_runs(stack)) {
		begun.depth = tells_frames(stack) ? stack->python.depth : 0;
		if (begun.depth) {
			begun.frame = stack->python.frame[0];
			begun.code = python_frame_code(&stack->python, 0);
		}
	}
	tracer_thread.in_optimizer++;
}

void optimizer_step_ends(void)
{
	if (tracer_thread.in_optimizer > 0)
		tracer_thread.in_optimizer--;
}
