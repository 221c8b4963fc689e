#include "tracer/native_walk.h"

#include <stdatomic.h>
#include <stddef.h>

#include "tracer/hash.h"
#include "tracer/memory.h"
#include "tracer/native_cfi.h"
#include "tracer/native_loader.h"
#include "tracer/python_probe.h"

#include "tracer/banned.h"

enum {
	INDEX_BITS = 14,
	INDEX_SIZE = 1 << INDEX_BITS,
	STEPS = NATIVE_STEPS, /* at most three quarters of the index */
	GUESS_EVERY = 16      /* wrong guesses of a thread for each that it corrects */
};

/* What is known of one return address; written once, but for `caller` and `unloads`. */
struct step {
	uintptr_t pc;
	int32_t cfa;
	int32_t bp;
	_Atomic(uint32_t) caller;  /* step of a caller seen lately, from 1: a guess */
	_Atomic(uint32_t) unloads; /* when it was known to be right: the lower bits */
	uint8_t kind;		   /* enum native_rule_kind */
	bool bp_saved;
};

/*
 * Steps lie densely in the order in which they were met, so that those in use share few
 * pages; the open-addressed index only grows fuller.  Made at the first walk.
 */
struct steps {
	_Atomic(uint32_t) used;
	struct step steps[STEPS];
	_Atomic(uint32_t) index[INDEX_SIZE]; /* number of its newest step, from 1 */
};

static _Atomic(struct steps *) all_steps;

static struct steps *table(void)
{
	struct steps *made = atomic_load_explicit(&all_steps, memory_order_acquire);
	struct steps *none = NULL;

	if (made)
		return made;
	made = memory_take(sizeof(*made));
	if (!made || atomic_compare_exchange_strong(&all_steps, &none, made))
		return made;
	memory_give(made, sizeof(*made));
	return none;
}

/* A new step, not in the index yet; NULL when there is no room. */
static struct step *add_step(struct steps *all, uintptr_t pc, struct native_rule rule,
			     uint32_t unloads)
{
	uint32_t number = atomic_load_explicit(&all->used, memory_order_relaxed);
	struct step *step;

	do {
		if (number >= STEPS)
			return NULL;
	} while (!atomic_compare_exchange_weak(&all->used, &number, number + 1));
	step = &all->steps[number];
	step->pc = pc;
	step->kind = (uint8_t)rule.kind;
	step->bp_saved = rule.bp_saved;
	step->cfa = rule.cfa;
	step->bp = rule.bp;
	atomic_init(&step->unloads, unloads);
	return step;
}

__attribute__((cold, noinline)) static struct step *make_step(struct steps *all, uintptr_t pc)
{
	uint32_t unloads = (uint32_t)native_loader_unloads(); /* before the rule is looked up */

	return add_step(all, pc, native_cfi_rule(pc), unloads);
}

static bool has_rule(const struct step *step, struct native_rule rule)
{
	return step->kind == (uint8_t)rule.kind && step->bp_saved == rule.bp_saved &&
	       step->cfa == rule.cfa && step->bp == rule.bp;
}

/* Something was unloaded since: other code may lie here by now, and takes the step's place. */
__attribute__((cold, noinline)) static struct step *renew_step(struct steps *all, struct step *step,
							       _Atomic(uint32_t) *index)
{
	uint32_t unloads = (uint32_t)native_loader_unloads();
	struct native_rule rule = native_cfi_rule(step->pc);
	struct step *made;

	if (has_rule(step, rule)) {
		atomic_store_explicit(&step->unloads, unloads, memory_order_relaxed);
		return step;
	}
	made = add_step(all, step->pc, rule, unloads);
	if (made)
		atomic_store_explicit(index, (uint32_t)(made - all->steps) + 1,
				      memory_order_release);
	return made;
}

static bool is_step(struct step *step, uintptr_t pc)
{
	return step->pc == pc && atomic_load_explicit(&step->unloads, memory_order_relaxed) ==
					 (uint32_t)native_loader_unloads();
}

/* The step of a return address; NULL when there is no room for one more. */
static struct step *find_step(struct steps *all, uintptr_t pc)
{
	uint32_t i = (uint32_t)(pc * 0x9e3779b97f4a7c15ull >> (64 - INDEX_BITS));
	struct step *made = NULL;

	for (;; i = (i + 1) % INDEX_SIZE) {
		uint32_t found = atomic_load_explicit(&all->index[i], memory_order_acquire);

		if (!found) {
			made = made ? made : make_step(all, pc);
			if (!made)
				return NULL;
			if (atomic_compare_exchange_strong(&all->index[i], &found,
							   (uint32_t)(made - all->steps) + 1))
				return made;
		}
		if (is_step(&all->steps[found - 1], pc))
			return &all->steps[found - 1];
		if (all->steps[found - 1].pc == pc)
			return renew_step(all, &all->steps[found - 1], &all->index[i]);
	}
}

/*
 * A wrong guess is corrected now and then: threads on different devices share the guesses,
 * and each store takes the line from all others.
 */
static void guess_caller(struct steps *all, struct step *step, uint32_t guess,
			 const struct step *caller)
{
	static _Thread_local uint32_t wrong __attribute__((tls_model("initial-exec")));

	if (!guess || wrong++ % GUESS_EVERY == 0)
		atomic_store_explicit(&step->caller, (uint32_t)(caller - all->steps) + 1,
				      memory_order_release);
}

/* The caller's step: the guess if it is right, else by look-up. */
static struct step *next_step(struct steps *all, struct step *step, uintptr_t pc)
{
	uint32_t guess = atomic_load_explicit(&step->caller, memory_order_acquire);
	struct step *next = guess ? &all->steps[guess - 1] : NULL;

	if (next && is_step(next, pc))
		return next;
	next = find_step(all, pc);
	if (next)
		guess_caller(all, step, guess, next);
	return next;
}

static uintptr_t word_at(uintptr_t address)
{
	return *(const uintptr_t *)address;
}

/* The thread's stack is known to be there up to here. */
static _Thread_local uintptr_t known_end __attribute__((tls_model("initial-exec")));

static bool is_there(uintptr_t frame)
{
	uintptr_t word;

	if (frame <= known_end)
		return true;
	if (!python_probe((const void *)(frame - sizeof(word)), &word, sizeof(word)))
		return false;
	known_end = frame;
	return true;
}

/* Registers of a function that waits for the one it called. */
struct registers {
	uintptr_t pc; /* where that one will return to */
	uintptr_t sp;
	uintptr_t bp;
	const uintptr_t *bp_slot; /* where bp was read; NULL: that is among the reads already */
};

static uintptr_t read_word(struct native_reads *reads, uintptr_t address)
{
	reads->at[reads->count++] = (const uintptr_t *)address;
	return word_at(address);
}

/* The frame of `at` depends on bp, and so on the word that this was read from. */
static void need_bp(struct native_reads *reads, struct registers *at)
{
	if (at->bp_slot)
		reads->at[reads->count++] = at->bp_slot;
	at->bp_slot = NULL;
}

/* From a function's frame to its caller's.  False when it can't be right. */
static bool leave(struct registers *at, const struct step *step, struct native_reads *reads)
{
	uintptr_t base = step->kind == NATIVE_RULE_SP ? at->sp : at->bp;
	uintptr_t frame = base + (uintptr_t)(intptr_t)step->cfa;
	uintptr_t saved_bp = frame + (uintptr_t)(intptr_t)step->bp;

	if (step->kind == NATIVE_RULE_BP)
		need_bp(reads, at);
	/* Frames only ever lie further out. */
	if (frame <= at->sp || frame % sizeof(uintptr_t) || !is_there(frame))
		return false;
	if (step->bp_saved) {
		if (saved_bp < at->sp || saved_bp >= frame || saved_bp % sizeof(uintptr_t))
			return false;
		at->bp = word_at(saved_bp);
		at->bp_slot = (const uintptr_t *)saved_bp;
	}
	at->pc = read_word(reads, frame - sizeof(uintptr_t));
	at->sp = frame;
	return true;
}

bool native_walk(const uintptr_t *frame, struct native_stack *stack, struct native_reads *reads)
{
	struct steps *all = table();
	struct registers at = {.sp = (uintptr_t)(frame + 2), .bp = frame[0], .bp_slot = frame};
	struct step *step;

	stack->count = 0;
	reads->count = 0;
	if (!all)
		return false;
	at.pc = read_word(reads, (uintptr_t)(frame + 1));
	step = find_step(all, at.pc);
	while (step) {
		stack->addresses[stack->count++] = at.pc;
		if (step->kind == NATIVE_RULE_END || stack->count == NATIVE_STACK_MAX)
			return true;
		if (step->kind == NATIVE_RULE_NONE || !leave(&at, step, reads))
			return false;
		if (at.pc == 0)
			return true;
		step = next_step(all, step, at.pc);
	}
	return false;
}

uint64_t native_stack_hash(const struct native_stack *stack)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < stack->count; i++)
		sum = (sum + stack->addresses[i]) * 0xd1342543de82ef95ull;
	return hash_mix(sum, stack->count);
}
