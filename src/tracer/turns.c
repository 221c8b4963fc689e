#include "tracer/turns.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "tracer/hash.h"
#include "tracer/mark.h"
#include "tracer/trace_writer.h"

#include "tracer/banned.h"

enum {
	STACKS = 1024, /* known at a time: a power of two */
	STACKS_FULL = 768,
	RECUR = 3,	 /* times that a stack comes before it can lead */
	RATIO = 64,	 /* a lead that came so much more often is of another kind */
	SILENT_GAPS = 4, /* the lead is silent after so many of its longest gaps ... */
	NO_MODULE = UINT32_MAX,
	SILENT_LEAST = 64, /* ... and allocations */
};

static const uint64_t time_patience = 10000000000u; /* ns without any turn */
static const uint64_t time_step = 1000000000u;

/* By preference. */
enum stack_class {
	CLASS_LOOP = 0,	    /* Python, outside of every module */
	CLASS_MODULE = 1,   /* within a call of a torch.nn.Module */
	CLASS_NATIVE = 2,   /* a thread without Python frames */
	CLASS_BUILDING = 3, /* never leads */
};

struct seen {
	uint64_t hash;	/* 0: free */
	uint64_t first; /* allocations counted when it came first ... */
	uint64_t last;	/* ... and latest */
	uint64_t gap;	/* between its latest two */
	uint32_t count;
	uint32_t class;	 /* enum stack_class */
	uint32_t module; /* frame that calls the innermost module, or NO_MODULE */
	uint64_t freed;	 /* when it came latest */
	bool class_known;
	bool regular; /* its latest two gaps are alike */
};

static pthread_mutex_t turns_lock = PTHREAD_MUTEX_INITIALIZER;

/* All guarded by turns_lock, but for `freed_lately`. */
static struct seen table[STACKS];
static uint32_t used;
static uint64_t now; /* allocations */
static struct seen *lead;
static uint64_t lead_gap;     /* its longest */
static bool go_on;	      /* a lead of an earlier phase counted turns: the next one counts on */
static uint32_t turns_before; /* ... so many */
static uint64_t last_freed;   /* `freed`, when time made the last mark */
static uint64_t last_time;    /* when time made the last mark */
static uint64_t freed;	      /* rises when something was freed */

/* Something was since `freed` rose.  Seldom written: threads on different devices share it. */
static _Atomic(bool) freed_lately;

void turns_forget(void)
{
	pthread_mutex_init(&turns_lock, NULL);
	memset(table, 0, sizeof(table));
	used = 0;
	now = lead_gap = last_time = 0;
	lead = NULL;
	go_on = false;
	turns_before = 0;
	last_freed = freed;
}

void turns_freed(void)
{
	if (!atomic_load_explicit(&freed_lately, memory_order_relaxed))
		atomic_store_explicit(&freed_lately, true, memory_order_relaxed);
}

/* Caller holds turns_lock. */
static uint64_t freed_until_now(void)
{
	if (atomic_exchange_explicit(&freed_lately, false, memory_order_relaxed))
		freed++;
	return freed;
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
static void make_room(void)
{
	struct seen kept = lead ? *lead : (struct seen){0};

	memset(table, 0, sizeof(table));
	used = 0;
	if (!lead)
		return;
	lead = &table[kept.hash & (STACKS - 1)];
	*lead = kept;
	used = 1;
}

static struct seen *look_up(uint64_t hash)
{
	uint32_t i;

	if (used >= STACKS_FULL)
		make_room();
	for (i = hash & (STACKS - 1); table[i].hash && table[i].hash != hash;)
		i = (i + 1) & (STACKS - 1);
	if (!table[i].hash) {
		table[i] = (struct seen){.hash = hash, .first = now, .last = now};
		used++;
	}
	return &table[i];
}

/*
 * Layers of one kind have one stack, but each is another module: what comes again is the
 * stack with the module.
 */
static struct seen *find(const struct stack *stack)
{
	struct seen *seen = look_up(stack->hash ? stack->hash : 1);
	struct seen *of_module;

	if (!seen->class_known) {
		classify(seen, stack);
		seen->class_known = true;
	}
	if (seen->module == NO_MODULE)
		return seen;
	of_module =
		look_up(hash_mix(seen->hash, python_frame_argument(&stack->python, seen->module)));
	of_module->class = CLASS_MODULE;
	of_module->module = NO_MODULE;
	of_module->class_known = true;
	return of_module;
}

/* It comes again only if something was freed since it came: a turn leaves less than all. */
static struct seen *note(const struct stack *stack)
{
	uint64_t freed_now = freed_until_now();
	struct seen *seen = find(stack);
	uint64_t gap = now - seen->last;

	if (seen->count && seen->freed == freed_now)
		return NULL;
	seen->regular = seen->count > 1 && 2 * gap <= 3 * seen->gap && 2 * seen->gap <= 3 * gap;
	seen->freed = freed_now;
	seen->gap = gap;
	seen->last = now;
	seen->count++;
	return seen;
}

/*
 * How often the outermost module was called at least: the rarest stack within one that
 * came lately.
 */
static uint32_t module_calls(uint64_t since)
{
	uint32_t calls = UINT32_MAX;

	for (uint32_t i = 0; i < STACKS; i++)
		if (table[i].count > 1 && table[i].class == CLASS_MODULE && table[i].last > since &&
		    table[i].count < calls)
			calls = table[i].count;
	return calls;
}

/* More turns than the loop has do no harm, fewer do: a stack that comes seldom must not lead. */
static bool is_better(const struct seen *seen)
{
	if (seen->count < RECUR || !seen->regular || lead->count / seen->count > RATIO)
		return false;
	if (seen->class > lead->class)
		return false;
	if (seen->class == lead->class)
		return seen->class == CLASS_MODULE && 2 * seen->count < lead->count;
	if (seen->class == CLASS_LOOP && lead->class == CLASS_MODULE)
		return module_calls(now - 2 * seen->gap) <= seen->count + seen->count / 2 + 1;
	return true;
}

static bool is_silent(void)
{
	return now - lead->last > SILENT_GAPS * lead_gap + SILENT_LEAST;
}

/* The program has left the lead's loop.  Stacks of before begin again. */
static void end_phase(void)
{
	uint64_t last = lead->last;

	go_on = true;
	turns_before = (uint32_t)mark_count();
	lead = NULL;
	for (uint32_t i = 0; i < STACKS; i++)
		if (table[i].count && table[i].first <= last)
			table[i].count = table[i].last > last ? 1 : 0;
}

static void follow(struct seen *seen, struct turns_turn *turn)
{
	turn->restart = !go_on;
	turn->first = true;
	lead = seen;
	lead_gap = seen->gap;
}

static bool count_turn(struct turns_turn *turn)
{
	if (lead->gap > lead_gap)
		lead_gap = lead->gap;
	turn->number = turns_before + lead->count;
	turn->clock = lead->class == CLASS_MODULE ? GPULEAK_CLOCK_MODULE : GPULEAK_CLOCK_LOOP;
	return true;
}

/* Nothing comes again: then time has to do. */
static bool count_time(struct turns_turn *turn)
{
	uint64_t when = trace_now();

	uint64_t freed_now = freed_until_now();

	if (when < time_patience || when - last_time < time_step || freed_now == last_freed)
		return false;
	last_freed = freed_now;
	last_time = when;
	turn->clock = GPULEAK_CLOCK_TIME;
	return true;
}

/* Caller holds turns_lock. */
static bool decide(struct seen *seen, struct turns_turn *turn)
{
	if (!seen || seen->class == CLASS_BUILDING)
		return false;
	if (lead && seen != lead && is_silent())
		end_phase();
	if (lead ? seen != lead && is_better(seen) : seen->count >= RECUR)
		follow(seen, turn);
	if (seen == lead)
		return count_turn(turn);
	return !lead && !go_on && count_time(turn);
}

bool turns_begin(const struct stack *stack, struct turns_turn *turn)
{
	bool begins;

	*turn = (struct turns_turn){0};
	pthread_mutex_lock(&turns_lock);
	now++;
	begins = decide(note(stack), turn);
	pthread_mutex_unlock(&turns_lock);
	return begins;
}
