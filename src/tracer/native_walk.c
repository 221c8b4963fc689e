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
	STEPS = NATIVE_STEPS /* at most three quarters of the index */
};

/* What is known of one return address; written once, but for `unloads`. */
struct step {
	uintptr_t pc;
	int32_t cfa;
	int32_t bp;
	uint8_t kind; /* enum native_rule_kind */
	bool bp_saved;
	_Atomic(uint32_t) unloads; /* when it was known to be right: the lower bits */
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

/* The caller's step: the one seen last time if it is right, else by look-up. */
static struct step *next_step(struct steps *all, uint16_t *guess, uintptr_t pc)
{
	struct step *next = *guess ? &all->steps[*guess - 1] : NULL;

	if (next && is_step(next, pc))
		return next;
	next = find_step(all, pc);
	if (next)
		*guess = (uint16_t)(next - all->steps + 1);
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
static bool leave(struct native_registers *at, const struct step *step, uintptr_t *bp_slot)
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
		*bp_slot = saved_bp;
	}
	at->pc = word_at(frame - sizeof(uintptr_t));
	at->sp = frame;
	return true;
}

/* A walk under way: what it found that isn't of the old trail, innermost first. */
struct walk {
	struct steps *all;
	struct native_trail *trail;
	unsigned past; /* so many of the old trail's frames, from the outermost, may lie ahead */
	unsigned count;
	struct native_trail_frame found[NATIVE_STACK_MAX];
};

uint64_t native_trail_hash(const struct native_trail *trail, unsigned skip)
{
	unsigned count = trail->count > skip ? trail->count - skip : 0;

	return hash_mix(count ? trail->frames[count - 1].sum : 0, count);
}

static uint64_t add_to_sum(uint64_t sum, uintptr_t pc)
{
	return (sum + pc) * 0xd1342543de82ef95ull;
}

void native_trail_set(struct native_trail *trail, void *const *addresses, unsigned count)
{
	uint64_t sum = 0;

	trail->count = count;
	trail->whole = false;
	for (unsigned i = 0; i < count; i++) {
		uintptr_t pc = (uintptr_t)addresses[count - 1 - i];

		sum = add_to_sum(sum, pc);
		trail->frames[i] = (struct native_trail_frame){.at.pc = pc, .sum = sum};
	}
}

/* What was found goes onto the outermost `kept` frames of the old trail. */
static void join(struct walk *walk, unsigned kept, bool whole)
{
	struct native_trail *trail = walk->trail;
	uint64_t sum = kept ? trail->frames[kept - 1].sum : 0;
	bool needs_bp = kept && trail->frames[kept - 1].needs_bp;

	for (unsigned i = walk->count; i-- > 0;) {
		struct native_trail_frame *frame = &trail->frames[kept++];

		*frame = walk->found[i];
		sum = add_to_sum(sum, frame->at.pc);
		needs_bp = walk->all->steps[frame->step].kind == NATIVE_RULE_BP ||
			   (!frame->bp_slot && needs_bp);
		frame->sum = sum;
		frame->needs_bp = needs_bp;
	}
	trail->count = kept;
	trail->whole = whole;
}

/* The registers are those of the innermost frame of the old trail that may lie ahead. */
static bool is_on_trail(struct walk *walk, const struct native_registers *at)
{
	const struct native_trail_frame *frames = walk->trail->frames;
	const struct native_trail_frame *next;

	while (walk->past && frames[walk->past - 1].at.sp < at->sp)
		walk->past--;
	if (!walk->past)
		return false;
	next = &frames[walk->past - 1];
	return next->at.sp == at->sp && next->at.pc == at->pc &&
	       (!next->needs_bp || next->at.bp == at->bp);
}

/* From frame `i` of the old trail, known to be right, outwards as far as the stack agrees. */
static unsigned follow(const struct native_trail_frame *frames, unsigned i)
{
	for (; i > 0; i--) {
		const struct native_trail_frame *here = &frames[i], *next = &frames[i - 1];

		if (word_at(next->at.sp - sizeof(uintptr_t)) != next->at.pc)
			break;
		if (next->needs_bp && here->bp_slot && word_at(here->bp_slot) != next->at.bp)
			break;
	}
	return i;
}

/* Notes the frame that `at` is in; false when there is no room. */
static bool note(struct walk *walk, const struct native_registers *at, const struct step *step)
{
	if (walk->count == NATIVE_STACK_MAX)
		return false;
	walk->found[walk->count++] =
		(struct native_trail_frame){.at = *at, .step = (uint32_t)(step - walk->all->steps)};
	return true;
}

/*
 * Notes the old trail's frames from the innermost that lies ahead to frame `last`, all but whose
 * unneeded bp are known to be right, and goes to that one.
 */
static bool note_followed(struct walk *walk, unsigned last, struct native_registers *at)
{
	for (unsigned i = walk->past; i-- > last;) {
		const struct native_trail_frame *frame = &walk->trail->frames[i];

		at->pc = frame->at.pc;
		at->sp = frame->at.sp;
		if (!note(walk, at, &walk->all->steps[frame->step]))
			return false;
		if (i > last && frame->bp_slot) {
			walk->found[walk->count - 1].bp_slot = frame->bp_slot;
			at->bp = word_at(frame->bp_slot);
		}
	}
	walk->past = last;
	return true;
}

/* Walks until the old trail or the stack's end is reached; false when that can't be. */
static bool find(struct walk *walk, struct native_registers at)
{
	struct step *step = find_step(walk->all, at.pc);

	while (step) {
		if (is_on_trail(walk, &at)) {
			unsigned last = follow(walk->trail->frames, walk->past - 1);

			if (last == 0 && walk->past + walk->count <= NATIVE_STACK_MAX) {
				join(walk, walk->past, true);
				return true;
			}
			if (!note_followed(walk, last, &at))
				break;
			step = &walk->all->steps[walk->trail->frames[last].step];
		} else if (!note(walk, &at, step)) {
			break;
		}
		if (step->kind == NATIVE_RULE_END) {
			join(walk, 0, true);
			return true;
		}
		if (step->kind == NATIVE_RULE_NONE ||
		    !leave(&at, step, &walk->found[walk->count - 1].bp_slot))
			return false;
		if (at.pc == 0)
			break;
		step = next_step(walk->all, &walk->trail->callers[step - walk->all->steps], at.pc);
	}
	if (!step)
		return false;
	join(walk, 0, false);
	return true;
}

static void walk_once(struct native_registers from, struct native_trail *trail)
{
	unsigned long long unloads = native_loader_unloads();
	struct walk walk;

	walk.all = table();
	walk.trail = trail;
	walk.past = trail->whole && trail->unloads == unloads ? trail->count : 0;
	walk.count = 0;
	trail->whole = false;
	trail->unloads = unloads;
	trail->count = walk.all && find(&walk, from) ? trail->count : 0;
}

bool native_walk(struct native_registers from, struct native_trail *trail)
{
	walk_once(from, trail);
	/* Seen on the way: what was walked by then went by old rules. */
	if (trail->unloads != native_loader_unloads())
		walk_once(from, trail);
	return trail->count > 0;
}
