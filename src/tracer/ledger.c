#include "tracer/ledger.h"

#include <errno.h>
#include <string.h>

#include "tracer/hash.h"
#include "tracer/hot.h"
#include "tracer/ledger_peak.h"
#include "tracer/native_loader.h"
#include "tracer/optimizer_step.h"
#include "tracer/python_collector.h"
#include "tracer/trace_writer.h"

#include "tracer/banned.h"

/* Raised when a code object of a known stack dies; a ledger compares it with its own. */
HOT_DATA static uint32_t code_epoch;

void ledger_code_died(void)
{
	__atomic_fetch_add(&code_epoch, 1, __ATOMIC_RELEASE);
}

HOT_CODE uint32_t ledger_addresses_epoch(void)
{
	/* Both only rise: an equal sum is an equal pair. */
	return __atomic_load_n(&code_epoch, __ATOMIC_ACQUIRE) + (uint32_t)native_loader_unloads();
}

static struct ring_totals totals(const struct ledger *ledger)
{
	return (struct ring_totals){ledger->allocated, ledger->reserved};
}

static inline void write_event(struct ledger *ledger, enum gpuleak_event_kind kind,
			       uint64_t address, int64_t size, uint32_t site)
{
	struct gpuleak_event event = {
		.address = address,
		.size = size,
		.site = site,
		.step = ledger->step,
	};

	ring_write(&ledger->ring, totals(ledger), kind, event);
}

__attribute__((noinline)) void ledger_write_event(struct ledger *ledger,
						  enum gpuleak_event_kind kind, uint64_t address,
						  int64_t size, uint32_t site)
{
	write_event(ledger, kind, address, size, site);
}

void ledger_write_mark(struct ledger *ledger)
{
	ledger_write_event(ledger, GPULEAK_EVENT_MARK, 0, 0, GPULEAK_SITE_NONE);
}

void ledger_write_restart(struct ledger *ledger)
{
	ledger_write_event(ledger, GPULEAK_EVENT_RESTART, 0, 0, GPULEAK_SITE_NONE);
}

/* The site that stands for all stacks that found no room: one a source, segments apart. */
static uint64_t overflow_key(uint32_t source, uint32_t flags)
{
	return hash_mix(0x6f766572666c6f77ull, source << 8 | flags);
}

uint32_t ledger_add_site(struct ledger *ledger, const struct gpuleak_site *item, uint64_t content)
{
	uint32_t number = (uint32_t)ledger->sites.count;
	struct ledger_site *site;
	uint32_t file = trace_site(item);

	if (file == GPULEAK_SITE_NONE)
		return GPULEAK_SITE_NONE;
	if (ledger->histories.count == number &&
	    !memory_array_add(&ledger->histories, sizeof(struct ledger_history)))
		return GPULEAK_SITE_NONE;
	site = memory_array_add(&ledger->sites, sizeof(*site));
	if (!site)
		return GPULEAK_SITE_NONE;
	site->file = file;
	site->source = item->source;
	map_put(&ledger->by_content, content, number);
	return number;
}

static uint32_t overflow_site(struct ledger *ledger, uint32_t source, uint32_t flags)
{
	uint32_t kept = GPULEAK_SITE_OVERFLOW | (flags & GPULEAK_SITE_SEGMENT);
	struct gpuleak_site item = {
		.device = (uint16_t)ledger->device,
		.source = (uint8_t)source,
		.flags = (uint8_t)kept,
	};
	uint64_t key = overflow_key(source, kept);
	uint32_t site = map_get(&ledger->by_content, key);

	trace_count(&trace.state->dropped_sites);
	return site != MAP_MISSING ? site : ledger_add_site(ledger, &item, key);
}

/* A stack whose addresses are new: resolve it, and look whether its content is. */
__attribute__((cold, noinline)) static uint32_t
resolve_site(struct ledger *ledger, const struct stack *stack, uint32_t source, uint32_t flags)
{
	struct gpuleak_site item = {
		.device = (uint16_t)ledger->device,
		.source = (uint8_t)source,
		.flags = (uint8_t)(flags | (stack->backward ? GPULEAK_SITE_BACKWARD : 0u)),
	};
	uint64_t content;
	uint32_t site;

	if (!stack_write(stack, &item.stack, &item.key))
		return overflow_site(ledger, source, flags);
	content = hash_mix(item.key, source << 8 | item.flags);
	site = map_get(&ledger->by_content, content);
	if (site == MAP_MISSING)
		site = ledger_add_site(ledger, &item, content);
	return site != GPULEAK_SITE_NONE ? site : overflow_site(ledger, source, flags);
}

HOT_CODE static uint32_t find_site(struct ledger *ledger, const struct stack *stack,
				   uint32_t source, uint32_t flags)
{
	uint32_t epoch = ledger_addresses_epoch();
	uint64_t address = stack->hash + stack->caller * 0x9e3779b97f4a7c15ull +
			   ((uint64_t)flags << 8 | source << 1 | stack->backward);
	uint32_t site;

	if (ledger->code_epoch != epoch) {
		map_clear(&ledger->by_address);
		ledger->code_epoch = epoch;
	}
	site = map_get(&ledger->by_address, address);
	if (site != MAP_MISSING)
		return site;
	site = resolve_site(ledger, stack, source, flags);
	if (site != GPULEAK_SITE_NONE)
		map_put(&ledger->by_address, address, site);
	return site;
}

/* The first change of a site since the last mark. */
__attribute__((noinline)) static void touch_first(struct ledger *ledger, struct ledger_site *site,
						  uint32_t number)
{
	if (!site->allocs)
		ledger_history(ledger, number)->first_step = ledger->step;
	site->touched = ledger->touched;
	ledger->touched = number + 1;
}

static inline void touch(struct ledger *ledger, struct ledger_site *site, uint32_t number)
{
	site->last_step = ledger->step;
	if (!site->touched)
		touch_first(ledger, site, number);
}

void ledger_touch(struct ledger *ledger, struct ledger_site *site, uint32_t number)
{
	touch(ledger, site, number);
}

/* The site's item in the trace. */
static inline uint32_t site_alloc(struct ledger *ledger, uint32_t number, uint64_t size)
{
	struct ledger_site *site = ledger_site(ledger, number);

	ledger_note_peak(ledger, site, number);
	touch(ledger, site, number);
	site->allocs++;
	site->alloc_bytes += size;
	site->live_blocks++;
	site->live_bytes += size;
	site->born++;
	site->born_bytes += size;
	return site->file;
}

/*
 * A free of an older block waits for the mark: a process that tears down frees everything.
 * So does its new size, `resized`; 0: it is freed.
 */
__attribute__((noinline)) static void hold(struct ledger *ledger, const struct block *block,
					   uint64_t resized)
{
	struct ledger_held_free *held = memory_array_add(&ledger->held_frees, sizeof(*held));

	if (!held) {
		trace_count(&trace.state->dropped_events);
		return;
	}
	held->site = block_site(block);
	held->collected = python_collecting();
	held->birth = block->birth;
	held->size = block_size(block);
	held->resized = resized;
}

static inline uint32_t site_free(struct ledger *ledger, const struct block *block)
{
	struct ledger_site *site = ledger_site(ledger, block_site(block));

	ledger_note_peak(ledger, site, block_site(block));
	touch(ledger, site, block_site(block));
	site->live_blocks--;
	site->live_bytes -= block_size(block);
	if (__builtin_expect(block->birth == ledger->step, 1)) {
		site->born--;
		site->born_bytes -= block_size(block);
		site->temporaries++;
	} else {
		hold(ledger, block, 0);
	}
	return site->file;
}

/*
 * An allocator that gives out an address again without having reported the free
 * (a graph's pool put back to a checkpoint) re-creates the block: it keeps its site
 * and its birth.
 */
__attribute__((cold, noinline)) static void keep_older(struct ledger *ledger,
						       struct block_table *table,
						       const struct block *older, uint64_t size)
{
	struct ledger_site *site = ledger_site(ledger, block_site(older));
	struct block kept = block_make(older->address, size, block_site(older), older->birth);
	struct block replaced;

	trace_count(&trace.state->replaced);
	ledger_note_peak(ledger, site, block_site(older));
	site->live_bytes += size - block_size(older);
	if (older->birth == ledger->step)
		site->born_bytes += size - block_size(older);
	else if (size != block_size(older))
		hold(ledger, older, size);
	blocks_put(table, &kept, &replaced);
	ledger_touch(ledger, site, block_site(older));
}

/* The item of the block's site, and by how much that one's live bytes grew. */
__attribute__((noinline)) static uint32_t add_block(struct ledger *ledger,
						    struct block_table *table,
						    const struct block *block, uint64_t *grown)
{
	uint64_t size = block_size(block);
	struct block replaced;

	*grown = 0;
	if (!blocks_put(table, block, &replaced)) {
		trace_count(&trace.state->dropped_blocks);
		return GPULEAK_SITE_NONE;
	}
	if (replaced.address) {
		*grown = size - block_size(&replaced);
		keep_older(ledger, table, &replaced, size);
		return ledger_site(ledger, block_site(&replaced))->file;
	}
	*grown = size;
	return site_alloc(ledger, block_site(block), size);
}

/* GPULEAK_SITE_NONE is above any. */
static inline bool is_block(uint32_t site, uint64_t size)
{
	if (__builtin_expect(site <= BLOCK_SITE_MAX && size <= BLOCK_SIZE_MAX, 1))
		return true;
	trace_count(&trace.state->dropped_blocks);
	return false;
}

/* The item of the block's site. */
static inline uint32_t add_torch_block(struct ledger *ledger, uint64_t address, uint64_t size,
				       uint32_t site)
{
	struct block block;
	uint64_t grown;

	if (!is_block(site, size))
		return GPULEAK_SITE_NONE;
	block = block_make(address, size, site, ledger->step);
	if (!blocks_put_usual(&ledger->torch_blocks, block))
		return add_block(ledger, &ledger->torch_blocks, &block, &grown);
	return site_alloc(ledger, site, size);
}

static inline bool take_torch_block(struct ledger *ledger, uint64_t address, struct block *block)
{
	return blocks_take_usual(&ledger->torch_blocks, address, block) ||
	       blocks_take(&ledger->torch_blocks, address, block);
}

__attribute__((noinline)) static void change_reserved(struct ledger *ledger, uint64_t reserved)
{
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

HOT_CODE void ledger_torch_alloc(struct ledger *ledger, uint64_t address, uint64_t size,
				 struct ring_totals now, const struct stack *stack)
{
	uint32_t site;

	lock_take(&ledger->lock);
	ledger->events++;
	ledger->allocs++;
	set_reserved(ledger, now.reserved);
	site = find_site(ledger, stack, GPULEAK_SOURCE_TORCH,
			 optimizer_step_runs(stack) ? GPULEAK_SITE_OPTIMIZER : 0u);
	site = add_torch_block(ledger, address, size, site);
	write_event(ledger, GPULEAK_EVENT_ALLOC, address, (int64_t)size, site);
	ledger_set_allocated(ledger, now.allocated);
	lock_give(&ledger->lock);
}

HOT_CODE bool ledger_torch_free(struct ledger *ledger, uint64_t address, uint64_t size,
				struct ring_totals now, bool always)
{
	uint32_t site = GPULEAK_SITE_NONE;
	struct block block;
	bool known;

	lock_take(&ledger->lock);
	known = take_torch_block(ledger, address, &block);
	if (known || always) {
		ledger->events++;
		set_reserved(ledger, now.reserved);
		if (known)
			site = site_free(ledger, &block);
		else
			trace_count(&trace.state->unknown_frees);
		write_event(ledger, GPULEAK_EVENT_FREE, address, (int64_t)(0 - size), site);
		ledger_set_allocated(ledger, now.allocated);
	}
	lock_give(&ledger->lock);
	return known || always;
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
	note.step = ledger->step;
	ledger_write_event(ledger, GPULEAK_EVENT_OOM, 0, (int64_t)size, GPULEAK_SITE_NONE);
	lock_give(&ledger->lock);
	trace_note(&note);
}

static bool is_segment(uint32_t file)
{
	return file != GPULEAK_SITE_NONE && (trace.sites[file].flags & GPULEAK_SITE_SEGMENT);
}

void ledger_cuda_alloc(struct ledger *ledger, uint64_t address, uint64_t size, bool segment,
		       const struct stack *stack)
{
	uint32_t flags = segment ? GPULEAK_SITE_SEGMENT : 0;
	uint64_t grown = 0;
	struct block block;
	uint32_t site;

	lock_take(&ledger->lock);
	ledger->events++;
	site = find_site(ledger, stack, GPULEAK_SOURCE_CUDART, flags);
	if (is_block(site, size)) {
		block = block_make(address, size, site, ledger->step);
		site = add_block(ledger, &ledger->cuda_blocks, &block, &grown);
	} else {
		site = GPULEAK_SITE_NONE;
	}
	ledger_write_event(ledger, GPULEAK_EVENT_MALLOC, address, (int64_t)size, site);
	if (!is_segment(site))
		ledger_set_outside(ledger, ledger->outside + grown);
	lock_give(&ledger->lock);
}

/* empty_cache() gives segments back without a report of the allocator's. */
static void cuda_freed(struct ledger *ledger, const struct block *block)
{
	uint32_t file = site_free(ledger, block);

	ledger_write_event(ledger, GPULEAK_EVENT_CUDA_FREE, block->address,
			   -(int64_t)block_size(block), file);
	if (!is_segment(file))
		ledger_set_outside(ledger, ledger->outside - block_size(block));
	else if (ledger->reserved >= block_size(block))
		set_reserved(ledger, ledger->reserved - block_size(block));
}

bool ledger_cuda_free(struct ledger *ledger, uint64_t address)
{
	struct block block;
	bool known;

	lock_take(&ledger->lock);
	known = blocks_take(&ledger->cuda_blocks, address, &block);
	if (known) {
		ledger->events++;
		cuda_freed(ledger, &block);
	}
	lock_give(&ledger->lock);
	return known;
}

void ledger_driver_asked(struct ledger *ledger, uint64_t free_bytes, uint64_t total)
{
	uint64_t known;

	lock_take(&ledger->lock);
	known = ledger->reserved + ledger->outside;
	ledger->driver.asked++;
	ledger->driver.total = total;
	/* PyTorch's total may be ahead or behind for a moment. */
	ledger->driver.other =
		total > free_bytes && total - free_bytes > known ? total - free_bytes - known : 0;
	lock_give(&ledger->lock);
}
