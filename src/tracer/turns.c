#include "tracer/turns.h"

#include <stdatomic.h>
#include <string.h>

#include "tracer/hash.h"
#include "tracer/lock.h"
#include "tracer/mark.h"
#include "tracer/trace_writer.h"
#include "tracer/turns_leading.h"

#include "tracer/banned.h"

enum {
	STACKS = 1024, /* known at a time: a power of two */
	STACKS_FULL = 768,
	NO_MODULE = UINT32_MAX,
};

static const uint64_t time_patience = 10000000000u; /* ns without any turn */
static const uint64_t time_step = 1000000000u;

struct seen {
	uint64_t hash;	/* 0: free */
	uint64_t first; /* allocations counted when it came first ... */
	uint64_t last;	/* ... and latest */
	uint64_t gap;	/* between its latest two */
	uint32_t count;
	uint32_t class;	 /* enum turns_class */
	uint32_t module; /* frame that calls the innermost module, or NO_MODULE */
	uint64_t freed;	 /* when it came latest */
	bool class_known;
	bool regular; /* its latest two gaps are alike */
};

/* What is known of a device's loop; pages of one that is never used are never written. */
struct turns {
	struct lock lock;	    /* guards all, but for `freed_lately` */
	_Atomic(bool) freed_lately; /* something was since `freed` rose */
	bool taken;		    /* the lead's turns have been steps */
	uint32_t used;
	uint32_t turns_before; /* those of the lead count on from here */
	uint64_t now;	       /* allocations */
	struct seen *lead;
	uint64_t lead_gap;   /* its longest */
	uint64_t freed;	     /* rises when something was freed */
	uint64_t last_freed; /* `freed`, when time made the last mark */
	struct turns_heard heard;
	struct seen table[STACKS];
} __attribute__((aligned(256))); /* two devices share no cache line */

static struct turns devices[GPULEAK_DEVICES_MAX];

/* When time made the last mark. */
static _Atomic(uint64_t) last_time;

void turns_forget(void)
{
	for (unsigned i = 0; i < GPULEAK_DEVICES_MAX; i++)
		if (devices[i].now || devices[i].lock.taken)
			memset(&devices[i], 0, sizeof(devices[i]));
	atomic_store(&last_time, 0);
	turns_leading_forget();
}

void turns_freed(uint32_t device)
{
	_Atomic(bool) *lately;

	if (device >= GPULEAK_DEVICES_MAX)
		return;
	lately = &devices[device].freed_lately;
	if (!atomic_load_explicit(lately, memory_order_relaxed))
		atomic_store_explicit(lately, true, memory_order_relaxed);
}

/* Caller holds the lock.  A free that comes in between finds the flag up, and has come before. */
static uint64_t freed_until_now(struct turns *turns)
{
	if (atomic_load_explicit(&turns->freed_lately, memory_order_relaxed)) {
		atomic_store_explicit(&turns->freed_lately, false, memory_order_relaxed);
		turns->freed++;
	}
	return turns->freed;
}

static bool ends_with(const char *text, const char *end)
{
	size_t size = strlen(text), end_size = strlen(end);

	return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

/* Building a module, loading it or moving it to a device: what comes again there is no turn. */
static bool is_building(const struct python_frame *frame, bool of_module)
{
	static const char *const names[] = {"__init__", "from_pretrained", "load_state_dict"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(frame->function, names[i]) == 0)
			return true;
	return of_module && strcmp(frame->function, "_apply") == 0;
}

/* Frames from the innermost one; PyTorch calls a module through _wrapped_call_impl(self, ...). */
static void classify(struct seen *seen, const struct stack *stack)
{
	struct python_frame frame;

	seen->class = stack->kind == STACK_PYTHON ? CLASS_LOOP : CLASS_NATIVE;
	seen->module = NO_MODULE;
	for (unsigned i = 0; stack->kind == STACK_PYTHON && i < stack->python.depth; i++) {
		bool of_module;

		if (!python_frame_resolve(&stack->python, i, &frame))
			continue;
		of_module = ends_with(frame.file, "torch/nn/modules/module.py");
		if (is_building(&frame, of_module)) {
			seen->class = CLASS_BUILDING;
			return;
		}
		if (!of_module || strcmp(frame.function, "_wrapped_call_impl") != 0)
			continue;
		seen->class = CLASS_MODULE;
		if (seen->module == NO_MODULE)
			seen->module = i;
	}
}

/* Forgets all but the lead, when the table is full. */
static void make_room(struct turns *turns)
{
	struct seen kept = turns->lead ? *turns->lead : (struct seen){0};

	memset(turns->table, 0, sizeof(turns->table));
	turns->used = 0;
	if (!turns->lead)
		return;
	turns->lead = &turns->table[kept.hash & (STACKS - 1)];
	*turns->lead = kept;
	turns->used = 1;
}

static struct seen *look_up(struct turns *turns, uint64_t hash)
{
	struct seen *table = turns->table;
	uint32_t i;

	if (turns->used >= STACKS_FULL)
		make_room(turns);
	for (i = hash & (STACKS - 1); table[i].hash && table[i].hash != hash;)
		i = (i + 1) & (STACKS - 1);
	if (!table[i].hash) {
		table[i] = (struct seen){.hash = hash, .first = turns->now, .last = turns->now};
		turns->used++;
	}
	return &table[i];
}

/*
 * Layers of one kind have one stack, but each is another module: what comes again is the
 * stack with the module.
 */
static struct seen *find(struct turns *turns, const struct stack *stack)
{
	struct seen *seen = look_up(turns, stack->hash ? stack->hash : 1);
	struct seen *of_module;

	if (!seen->class_known) {
		classify(seen, stack);
		seen->class_known = true;
	}
	if (seen->module == NO_MODULE)
		return seen;
	of_module = look_up(
		turns, hash_mix(seen->hash, python_frame_argument(&stack->python, seen->module)));
	of_module->class = CLASS_MODULE;
	of_module->module = NO_MODULE;
	of_module->class_known = true;
	return of_module;
}

/* It comes again only if something was freed since it came: a turn leaves less than all. */
static struct seen *note(struct turns *turns, const struct stack *stack)
{
	uint64_t freed_now = freed_until_now(turns);
	struct seen *seen = find(turns, stack);
	uint64_t gap = turns->now - seen->last;

	if (seen->count && seen->freed == freed_now)
		return NULL;
	seen->regular = seen->count > 1 && 2 * gap <= 3 * seen->gap && 2 * seen->gap <= 3 * gap;
	seen->freed = freed_now;
	seen->gap = gap;
	seen->last = turns->now;
	seen->count++;
	return seen;
}

/*
 * How often the outermost module was called at least: the rarest stack within one that
 * came lately.
 */
static uint32_t module_calls(const struct turns *turns, uint64_t since)
{
	const struct seen *table = turns->table;
	uint32_t calls = UINT32_MAX;

	for (uint32_t i = 0; i < STACKS; i++)
		if (table[i].count > 1 && table[i].class == CLASS_MODULE && table[i].last > since &&
		    table[i].count < calls)
			calls = table[i].count;
	return calls;
}

/* More turns than the loop has do no harm, fewer do: a stack that comes seldom must not lead. */
static bool is_better(const struct turns *turns, const struct seen *seen)
{
	const struct seen *lead = turns->lead;

	if (seen->count < TURNS_RECUR || !seen->regular || lead->count / seen->count > TURNS_RATIO)
		return false;
	if (seen->class > lead->class)
		return false;
	if (seen->class == lead->class)
		return seen->class == CLASS_MODULE && 2 * seen->count < lead->count;
	if (seen->class == CLASS_LOOP && lead->class == CLASS_MODULE)
		return module_calls(turns, turns->now - 2 * seen->gap) <=
		       seen->count + seen->count / 2 + 1;
	return true;
}

static bool is_silent(const struct turns *turns)
{
	return turns->now - turns->lead->last >
	       TURNS_SILENT_GAPS * turns->lead_gap + TURNS_SILENT_LEAST;
}

/* The program has left the lead's loop.  Stacks of before begin again. */
static void end_phase(struct turns *turns)
{
	uint64_t last = turns->lead->last;

	turns_leading_ends_phase((uint32_t)(turns - devices));
	turns->turns_before = (uint32_t)mark_count();
	turns->lead = NULL;
	turns->heard = (struct turns_heard){0};
	for (struct seen *seen = turns->table; seen < turns->table + STACKS; seen++)
		if (seen->count && seen->first <= last)
			seen->count = seen->last > last ? 1 : 0;
}

static void follow(struct turns *turns, struct seen *seen)
{
	turns->lead = seen;
	turns->lead_gap = seen->gap;
	turns->taken = false;
}

/* A turn of the device: is it a step? */
static bool count_turn(struct turns *turns, struct turns_turn *turn)
{
	struct seen *lead = turns->lead;
	struct turns_answer answer;

	if (lead->gap > turns->lead_gap)
		turns->lead_gap = lead->gap;
	turns_leading_ask(
		&(struct turns_own){
			.device = (uint32_t)(turns - devices),
			.class = lead->class,
			.count = lead->count,
			.regular = lead->regular,
			.now = turns->now,
			.gap = turns->lead_gap,
		},
		&turns->heard, &answer);
	if (!answer.leads)
		return false;
	turn->marks = mark_count();
	if (answer.taken)
		turns->turns_before =
			answer.anew ? 0 : (uint32_t)turn->marks + answer.uncounted - lead->count;
	turn->first = answer.taken || !turns->taken;
	turn->restart = turn->first && answer.anew;
	turns->taken = true;
	turn->number = turns->turns_before + lead->count;
	turn->clock = lead->class == CLASS_MODULE ? GPULEAK_CLOCK_MODULE : GPULEAK_CLOCK_LOOP;
	return true;
}

/* Nothing comes again: then time has to do. */
static bool count_time(struct turns *turns, struct turns_turn *turn)
{
	uint64_t last = atomic_load_explicit(&last_time, memory_order_relaxed);
	uint64_t when = trace_now();
	uint64_t freed_now = freed_until_now(turns);

	if (when < time_patience || when < last + time_step || freed_now == turns->last_freed)
		return false;
	if (!atomic_compare_exchange_strong(&last_time, &last, when))
		return false;
	turns->last_freed = freed_now;
	turn->marks = mark_count();
	turn->clock = GPULEAK_CLOCK_TIME;
	return true;
}

/* Caller holds the lock. */
static bool decide(struct turns *turns, struct seen *seen, struct turns_turn *turn)
{
	struct seen *lead = turns->lead;

	if (!seen || seen->class == CLASS_BUILDING)
		return false;
	if (lead && seen != lead && is_silent(turns))
		end_phase(turns);
	lead = turns->lead;
	if (lead ? seen != lead && is_better(turns, seen) : seen->count >= TURNS_RECUR)
		follow(turns, seen);
	if (seen == turns->lead)
		return count_turn(turns, turn);
	return !turns->lead && turns_leading_nobody() && count_time(turns, turn);
}

bool turns_begin(uint32_t device, const struct stack *stack, struct turns_turn *turn)
{
	struct turns *turns;
	bool begins;

	*turn = (struct turns_turn){0};
	if (device >= GPULEAK_DEVICES_MAX)
		return false;
	turns = &devices[device];
	lock_take(&turns->lock);
	turns->now++;
	begins = decide(turns, note(turns, stack), turn);
	lock_give(&turns->lock);
	return begins;
}
