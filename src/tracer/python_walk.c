#include "tracer/python_walk.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "tracer/hash.h"
#include "tracer/hot.h"
#include "tracer/python_probe.h"
#include "tracer/python_runtime.h"
#include "tracer/python_stack.h"
#include "tracer/python_thread.h"

#include "tracer/banned.h"

/* Frames looked at, shims among them: a chain longer than this is cut. */
enum {
	HOPS_MAX = 4 * PYTHON_STACK_MAX
};

/* Threads and frames that look wrong before we stop asking; see prove(). */
enum {
	DOUBTS_MAX = 64
};

typedef enum python_stack_state walk_function(struct python_stack *stack);

static walk_function walk_nothing, walk_unproven;

/* What python_stack_walk() does.  Set with release after python_runtime is whole. */
HOT_DATA static walk_function *_Atomic walk = walk_nothing;

enum python_stack_state python_stack_walk(struct python_stack *stack)
{
	return atomic_load_explicit(&walk, memory_order_acquire)(stack);
}

static enum python_stack_state walk_nothing(struct python_stack *stack)
{
	stack->depth = 0;
	stack->cut = false;
	stack->hash = 0;
	return PYTHON_STACK_NONE;
}

static inline const uint8_t *innermost(const uint8_t *state, const struct python_chain chain)
{
	const uint8_t *frame = python_pointer(state, chain.state_frame);

	if (chain.holder_frame != PYTHON_NONE && frame)
		frame = python_pointer(frame, chain.holder_frame);
	return frame;
}

/*
 * What tells this frame's place from all other places.  From 3.11 on the
 * instruction is a pointer into the code object itself; where it points into a
 * copy that belongs to the thread, two threads make two values of one place.
 */
static inline uint64_t place(const uint8_t *frame, const struct python_chain chain)
{
	uint64_t instruction;

	if (!chain.instruction_is_int)
		return python_word(frame, chain.instruction);
	instruction = (uint32_t)python_int(frame, chain.instruction);
	return python_word(frame, chain.code) + (instruction << 40) + instruction;
}

/*
 * The same pointer as `actual`, but known before it is loaded if `guess` is right:
 * the processor goes on with the guess and checks it meanwhile.
 */
static inline const uint8_t *foresee(const uint8_t *actual, const uint8_t *guess)
{
	const uint8_t *hidden;

	/* Or the compiler sees that both are the same, and waits for `actual`. */
	__asm__("" : "=r"(hidden) : "0"(guess));
	if (__builtin_expect(actual != guess, 0)) {
		__asm__ volatile(""); /* a branch it must be, not a conditional move */
		return actual;
	}
	return hidden;
}

/*
 * The walk itself, compiled once for each chain.  The hash is a sum of places,
 * each times its own odd number, so that the order counts and no step waits for
 * the one before.
 */
static inline __attribute__((always_inline)) enum python_stack_state
walk_chain(struct python_stack *stack, const struct python_chain chain)
{
	const uint8_t *state = python_thread_state();
	uint64_t factor = 0x9e3779b97f4a7c15u;
	const uint8_t *frame;
	uint64_t sum = 0;
	uint32_t depth = 0;
	unsigned hops;

	if (!state)
		return walk_nothing(stack);

	frame = innermost(state, chain);
	for (hops = 0; frame && hops < HOPS_MAX; hops++) {
		const uint8_t *previous = python_pointer(frame, chain.previous);

		if (!chain.shims || frame[chain.owner] < 3) {
			if (depth == PYTHON_STACK_MAX)
				break;
			stack->frame[depth++] = frame;
			sum += place(frame, chain) * factor;
			factor *= 0xd1342543de82ef95u;
		}
		frame = foresee(previous, stack->frame[depth]);
	}
	stack->depth = depth;
	stack->cut = frame != NULL;
	stack->hash = hash_mix(sum, depth);
	return depth ? PYTHON_STACK_FRAMES : PYTHON_STACK_EMPTY;
}

#define WALK(name, constants)                                                    \
	HOT_CODE static enum python_stack_state name(struct python_stack *stack) \
	{                                                                        \
		return walk_chain(stack, (const struct python_chain)constants);  \
	}

WALK(walk_3_8, PYTHON_CHAIN_3_8)
WALK(walk_3_10, PYTHON_CHAIN_3_10)
WALK(walk_3_11, PYTHON_CHAIN_3_11)
WALK(walk_3_12, PYTHON_CHAIN_3_12)
WALK(walk_3_13, PYTHON_CHAIN_3_13)
WALK(walk_3_14, PYTHON_CHAIN_3_14)
WALK(walk_3_14_free_threaded, PYTHON_CHAIN_3_14_FREE_THREADED)

static walk_function *walk_for(const struct python_offsets *offsets)
{
	switch (offsets->minor) {
	case 8:
	case 9:
		return walk_3_8;
	case 10:
		return walk_3_10;
	case 11:
		return walk_3_11;
	case 12:
		return walk_3_12;
	case 13:
		return walk_3_13;
	default:
		return offsets->free_threaded ? walk_3_14_free_threaded : walk_3_14;
	}
}

static bool probe_pointer(const uint8_t *object, uint16_t offset, const uint8_t **pointer)
{
	return python_probe(object + offset, pointer, sizeof(*pointer));
}

/* Does `frame` lead to a code object, and its instruction into that? */
static bool frame_fits(const uint8_t *frame, const struct python_offsets *offsets)
{
	const struct python_chain *chain = &offsets->chain;
	const uint8_t *code, *type, *instruction;
	int64_t size, place_in_code;

	if (!probe_pointer(frame, chain->code, &code))
		return false;
	code = (const uint8_t *)((uintptr_t)code & ~(uintptr_t)7);
	if (!probe_pointer(code, offsets->object.type, &type) || type != python_runtime.code_type)
		return false;
	if (chain->instruction_is_int || chain->copy_index != PYTHON_NONE)
		return true;

	if (!python_probe(code + offsets->object.size, &size, sizeof(size)) ||
	    !probe_pointer(frame, chain->instruction, &instruction))
		return false;
	place_in_code = instruction - (code + offsets->code.bytecode);
	return place_in_code >= -2 && place_in_code < 2 * size;
}

enum proof {
	PROOF_WRONG = 0,
	PROOF_NO_FRAME = 1, /* nothing against it, but nothing seen either */
	PROOF_RIGHT = 2,
};

/* Look at the first frames of a thread as if any pointer could be wrong. */
static enum proof prove_frames(const uint8_t *frame, const struct python_offsets *offsets)
{
	const struct python_chain *chain = &offsets->chain;
	enum proof proof = PROOF_NO_FRAME;
	uint8_t owner = 0;

	for (unsigned i = 0; frame && i < 16; i++) {
		if (chain->shims && !python_probe(frame + chain->owner, &owner, sizeof(owner)))
			return PROOF_WRONG;
		if (owner < 3) {
			if (!frame_fits(frame, offsets))
				return PROOF_WRONG;
			proof = PROOF_RIGHT;
		}
		if (!probe_pointer(frame, chain->previous, &frame))
			return PROOF_WRONG;
	}
	return proof;
}

static enum proof prove(const uint8_t *state, const struct python_offsets *offsets)
{
	const struct python_chain *chain = &offsets->chain;
	unsigned long thread;
	const uint8_t *frame;

	if (!python_probe(state + offsets->thread_id, &thread, sizeof(thread)) ||
	    thread != (unsigned long)pthread_self())
		return PROOF_WRONG;
	if (!probe_pointer(state, chain->state_frame, &frame))
		return PROOF_WRONG;
	if (chain->holder_frame != PYTHON_NONE && frame &&
	    !probe_pointer(frame, chain->holder_frame, &frame))
		return PROOF_WRONG;
	return prove_frames(frame, offsets);
}

/* Until the first Python frames were seen to be what the offsets say. */
static enum python_stack_state walk_unproven(struct python_stack *stack)
{
	static atomic_flag proving = ATOMIC_FLAG_INIT;
	static atomic_uint doubts;
	const uint8_t *state = python_thread_state_asked();
	walk_function *proven;

	walk_nothing(stack);
	if (!state)
		return PYTHON_STACK_NONE;

	switch (prove(state, python_runtime.offsets)) {
	case PROOF_WRONG:
		if (atomic_fetch_add(&doubts, 1) >= DOUBTS_MAX)
			python_detach("this Python's threads are laid out in another way: "
				      "no Python stacks");
		return PYTHON_STACK_NONE;
	case PROOF_NO_FRAME:
		return PYTHON_STACK_EMPTY;
	case PROOF_RIGHT:
		break;
	}
	/* Once: another thread may prove the same right now.  It costs a stack at most. */
	if (atomic_flag_test_and_set(&proving))
		return PYTHON_STACK_NONE;
	python_thread_shorten(state);
	proven = walk_for(python_runtime.offsets);
	atomic_store_explicit(&walk, proven, memory_order_release);
	return proven(stack);
}

void python_walk_begin(void)
{
	atomic_store_explicit(&walk, walk_unproven, memory_order_release);
}

void python_walk_end(void)
{
	atomic_store_explicit(&walk, walk_nothing, memory_order_release);
}
