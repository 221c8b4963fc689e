/*
 * The call stack of an allocation: Python's frames where the thread has any, native
 * ones where it has none; behind those of autograd's threads the ones that called backward().
 *
 * Threads: any, about itself.  stack_capture() takes no lock, no GIL and no heap;
 * stack_write() takes the trace's intern_lock.
 */
#ifndef GPULEAK_TRACER_STACK_H
#define GPULEAK_TRACER_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/native_stack.h"
#include "tracer/python_stack.h"

enum stack_kind {
	STACK_NONE = 0,
	STACK_PYTHON = 1,
	STACK_NATIVE = 2,
};

struct stack {
	uint64_t hash;	 /* of addresses: good while no code object of the stack dies */
	uint32_t caller; /* word of the trace's stacks: who called backward(); 0: not known */
	enum stack_kind kind;
	bool backward;		/* a thread that Python knows, without Python frames: autograd's */
	const uintptr_t *frame; /* of the hook: native stacks begin at its caller */
	struct python_stack python;
	struct native_memo native;
};

/* Find what walks stacks.  Looks up symbols: from the constructor, or another safe moment. */
void stack_attach(void);

/* Native stacks can be had. */
bool stack_native_ready(void);

/*
 * The calling thread's stack, not resolved.  `frame` is the __builtin_frame_address(0) of the
 * hook, and good until that returns.
 */
void stack_capture(struct stack *stack, const uintptr_t *frame);

/*
 * Resolve a stack just captured in this call and write it to the trace: `*word` in
 * the stacks' section, `*key` a hash of its content.  False when there is no room.
 */
bool stack_write(const struct stack *stack, uint32_t *word, uint64_t *key);

#endif
