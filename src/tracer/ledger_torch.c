/*
 * The events of PyTorch's allocator.  In its hook each is only noted down, in order and with its
 * site; up to LEDGER_WAITING of them enter the books together.  PyTorch's work between two events
 * pushes our code and our tables out of the processor's caches: together they have the code
 * fetched once, and the tables' lines ahead, none waiting for another.
 */
#include "tracer/hot.h"
#include "tracer/ledger_books.h"
#include "tracer/optimizer_step.h"
#include "tracer/python_collector.h"

#include "tracer/banned.h"

__attribute__((noinline)) static void change_reserved(struct ledger *ledger, uint64_t reserved)
{
	ledger_catch_up(ledger);
	ledger->reserved = reserved;
	if (reserved > ledger->peak_reserved)
		ledger->peak_reserved = reserved;
	ledger_write_event(ledger, GPULEAK_EVENT_RESERVED, 0, (int64_t)reserved, GPULEAK_SITE_NONE);
}

static inline void set_reserved(struct ledger *ledger, uint64_t reserved)
{
	if (__builtin_expect(ledger->reserved != reserved, 0))
		change_reserved(ledger, reserved);
}

void ledger_set_reserved(struct ledger *ledger, uint64_t reserved)
{
	set_reserved(ledger, reserved);
}

/* The item of the block's site. */
static inline uint32_t add_block(struct ledger *ledger, const struct ledger_waiting *event)
{
	struct block block = block_make(event->address, event->size, event->site, ledger->step);
	uint64_t grown;

	if (!blocks_put_usual(&ledger->torch_blocks, block))
		return books_add(ledger, &ledger->torch_blocks, &block, &grown);
	return books_site_alloc(ledger, event->site, event->size);
}

static inline void enter_alloc(struct ledger *ledger, const struct ledger_waiting *event)
{
	uint32_t site =
		event->flags & LEDGER_UNPLACED ? GPULEAK_SITE_NONE : add_block(ledger, event);

	ledger->events++;
	ledger->allocs++;
	books_write_event(ledger, GPULEAK_EVENT_ALLOC, event->address, (int64_t)event->size, site);
	ledger_set_allocated(ledger, event->allocated);
}

static inline bool take_block(struct ledger *ledger, uint64_t address, struct block *block)
{
	return blocks_take_usual(&ledger->torch_blocks, address, block) ||
	       blocks_take(&ledger->torch_blocks, address, block);
}

static inline void enter_free(struct ledger *ledger, const struct ledger_waiting *event)
{
	uint32_t site = GPULEAK_SITE_NONE;
	struct block block;

	if (take_block(ledger, event->address, &block)) {
		site = books_site_free(ledger, &block, event->flags & LEDGER_COLLECTED);
	} else {
		trace_count(&trace.state->unknown_frees);
	}
	ledger->events++;
	books_write_event(ledger, GPULEAK_EVENT_FREE, event->address, (int64_t)(0 - event->size),
			  site);
	ledger_set_allocated(ledger, event->allocated);
}

/* Have fetched what the events will look at: first where blocks are found, then the blocks. */
static void foresee(const struct ledger *ledger)
{
	const struct ledger_waiting *end = ledger->waiting + ledger->waiting_count;

	for (const struct ledger_waiting *event = ledger->waiting; event < end; event++) {
		blocks_foresee_home(&ledger->torch_blocks, event->address);
		if (!(event->flags & (LEDGER_FREED | LEDGER_UNPLACED)))
			__builtin_prefetch((struct ledger_site *)ledger->sites.items + event->site,
					   1);
	}
	for (const struct ledger_waiting *event = ledger->waiting; event < end; event++)
		if (event->flags & LEDGER_FREED)
			blocks_foresee_block(&ledger->torch_blocks, event->address);
}

static void enter_all(struct ledger *ledger)
{
	const struct ledger_waiting *end = ledger->waiting + ledger->waiting_count;

	for (const struct ledger_waiting *event = ledger->waiting; event < end; event++) {
		if (event->flags & LEDGER_FREED)
			enter_free(ledger, event);
		else
			enter_alloc(ledger, event);
	}
	ledger->waiting_count = 0;
}

__attribute__((flatten, noinline)) HOT_CODE void ledger_catch_up(struct ledger *ledger)
{
	if (!ledger->waiting_count)
		return;
	foresee(ledger);
	enter_all(ledger);
}

/* The time of the first event that waits is that of all. */
static inline void let_wait(struct ledger *ledger, uint64_t address, uint64_t size,
			    struct ring_totals now, uint32_t site, uint32_t flags)
{
	struct ledger_waiting *event = &ledger->waiting[ledger->waiting_count];

	if (__builtin_expect(ledger->waiting_count == 0, 0))
		ring_read_clock(&ledger->ring);
	event->address = address;
	event->size = size;
	event->allocated = now.allocated;
	event->site = site;
	event->flags = flags;
	__atomic_store_n(&ledger->latest, now.allocated, __ATOMIC_RELAXED); /* ledger_at_peak() */
	if (__builtin_expect(++ledger->waiting_count == LEDGER_WAITING, 0))
		ledger_catch_up(ledger);
}

HOT_CODE void ledger_torch_alloc(struct ledger *ledger, uint64_t address, uint64_t size,
				 struct ring_totals now, const struct stack *stack)
{
	uint32_t site;

	lock_take(&ledger->lock);
	set_reserved(ledger, now.reserved);
	site = ledger_find_site(ledger, stack, GPULEAK_SOURCE_TORCH,
				optimizer_step_runs(stack) ? GPULEAK_SITE_OPTIMIZER : 0u);
	let_wait(ledger, address, size, now, site,
		 books_can_hold(site, size) ? 0 : LEDGER_UNPLACED);
	lock_give(&ledger->lock);
}

static inline void let_free_wait(struct ledger *ledger, uint64_t address, uint64_t size,
				 struct ring_totals now)
{
	uint32_t flags = python_collecting() ? LEDGER_FREED | LEDGER_COLLECTED : LEDGER_FREED;

	set_reserved(ledger, now.reserved);
	let_wait(ledger, address, size, now, GPULEAK_SITE_NONE, flags);
}

HOT_CODE void ledger_torch_free(struct ledger *ledger, uint64_t address, uint64_t size,
				struct ring_totals now)
{
	lock_take(&ledger->lock);
	let_free_wait(ledger, address, size, now);
	lock_give(&ledger->lock);
}

bool ledger_torch_free_recorded(struct ledger *ledger, uint64_t address, uint64_t size,
				struct ring_totals now)
{
	bool known;

	lock_take(&ledger->lock);
	ledger_catch_up(ledger);
	known = blocks_find(&ledger->torch_blocks, address) != NULL;
	if (known)
		let_free_wait(ledger, address, size, now);
	lock_give(&ledger->lock);
	return known;
}

void ledger_torch_oom(struct ledger *ledger, uint64_t size, uint64_t allocated, uint64_t reserved,
		      const struct stack *stack)
{
	struct gpuleak_note note = {
		.kind = GPULEAK_NOTE_OOM,
		.when = trace_now(),
		.device = ledger->device,
		.size = size,
		.allocated = allocated,
		.held = reserved,
	};
	uint64_t key;

	if (!stack_write(stack, &note.stack, &key))
		note.stack = 0;
	lock_take(&ledger->lock);
	ledger_catch_up(ledger);
	note.step = ledger->step;
	ledger_write_event(ledger, GPULEAK_EVENT_OOM, 0, (int64_t)size, GPULEAK_SITE_NONE);
	lock_give(&ledger->lock);
	trace_note(&note);
}
