#include "tracer/native_walk.h"

#include <stdatomic.h>
#include <stddef.h>

#include "tracer/memory.h"
#include "tracer/native_cfi.h"
#include "tracer/python_probe.h"

#include "tracer/banned.h"

enum {
	STEP_BITS = 14,
	STEPS = 1 << STEP_BITS,
	STEPS_FULL = STEPS / 4 * 3
};

/* What is known of one return address.  All but `last_caller` is written once. */
struct step {
	_Atomic(uintptr_t) pc;	 /* claimed by whoever stores it first */
	_Atomic(uint32_t) ready; /* the rest is written: pairs with its release store */
	uint8_t kind;		 /* enum native_rule_kind */
	bool bp_saved;
	int32_t cfa;
	int32_t bp;
	_Atomic(uint32_t) last_caller; /* the step of the caller seen last: a guess, checked */
};

/* An open-addressed table that only grows fuller; made at the first walk. */
static _Atomic(struct step *) steps;
static _Atomic(unsigned) used;

static struct step *table(void)
{
	struct step *made = atomic_load_explicit(&steps, memory_order_acquire);
	struct step *none = NULL;

	if (made)
		return made;
	made = memory_take(STEPS * sizeof(struct step));
	if (!made || atomic_compare_exchange_strong(&steps, &none, made))
		return made;
	memory_give(made, STEPS * sizeof(struct step));
	return none;
}

static void fill(struct step *step, uintptr_t pc)
{
	struct native_rule rule = native_cfi_rule(pc);

	step->kind = (uint8_t)rule.kind;
	step->bp_saved = rule.bp_saved;
	step->cfa = rule.cfa;
	step->bp = rule.bp;
	atomic_store_explicit(&step->ready, 1, memory_order_release);
}

/* The step of a return address; NULL when the table is full or another thread fills it. */
static struct step *find_step(struct step *all, uintptr_t pc)
{
	uint32_t i = (uint32_t)(pc * 0x9e3779b97f4a7c15ull >> (64 - STEP_BITS));

	for (;; i = (i + 1) % STEPS) {
		uintptr_t found = atomic_load_explicit(&all[i].pc, memory_order_relaxed);

		if (found == pc)
			return atomic_load_explicit(&all[i].ready, memory_order_acquire) ? &all[i]
											 : NULL;
		if (found)
			continue;
		if (atomic_load(&used) >= STEPS_FULL)
			return NULL;
		if (atomic_compare_exchange_strong(&all[i].pc, &found, pc)) {
			atomic_fetch_add(&used, 1);
			fill(&all[i], pc);
			return &all[i];
		}
		if (found == pc)
			return NULL;
	}
}

/* The caller's step: the one seen last time if it is right, else by look-up. */
static struct step *next_step(struct step *all, struct step *step, uintptr_t pc)
{
	uint32_t guess = atomic_load_explicit(&step->last_caller, memory_order_relaxed);
	struct step *next = &all[guess];

	if (atomic_load_explicit(&next->pc, memory_order_relaxed) == pc &&
	    atomic_load_explicit(&next->ready, memory_order_acquire))
		return next;
	next = find_step(all, pc);
	if (next)
		atomic_store_explicit(&step->last_caller, (uint32_t)(next - all),
				      memory_order_relaxed);
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

/* From a function's frame to its caller's.  False when it can't be right. */
static bool leave(struct native_registers *at, const struct step *step)
{
	uintptr_t base = step->kind == NATIVE_RULE_SP ? at->sp : at->bp;
	uintptr_t frame = base + (uintptr_t)(intptr_t)step->cfa;
	uintptr_t saved_bp = frame + (uintptr_t)(intptr_t)step->bp;

	/* Frames only ever lie further out. */
	if (frame <= at->sp || frame % sizeof(uintptr_t) || !is_there(frame))
		return false;
	if (step->bp_saved) {
		if (saved_bp < at->sp || saved_bp >= frame)
			return false;
		at->bp = word_at(saved_bp);
	}
	at->pc = word_at(frame - sizeof(uintptr_t));
	at->sp = frame;
	return true;
}

unsigned native_walk(struct native_registers from, const void **addresses, unsigned max)
{
	struct step *all = table();
	struct step *step = all ? find_step(all, from.pc) : NULL;
	unsigned count = 0;

	while (step && count < max) {
		addresses[count++] = (const void *)from.pc;
		if (step->kind == NATIVE_RULE_END)
			return count;
		if (step->kind == NATIVE_RULE_NONE || !leave(&from, step))
			return 0;
		if (from.pc == 0)
			return count;
		step = next_step(all, step, from.pc);
	}
	return step ? count : 0;
}
