#include "tracer/ledger_books.h"

#include "tracer/banned.h"

void ledger_write_event(struct ledger *ledger, enum gpuleak_event_kind kind, uint64_t address,
			int64_t size, uint32_t site)
{
	ring_read_clock(&ledger->ring);
	books_write_event(ledger, kind, address, size, site);
}

void ledger_write_mark(struct ledger *ledger)
{
	ledger_write_event(ledger, GPULEAK_EVENT_MARK, 0, 0, GPULEAK_SITE_NONE);
}

void ledger_write_restart(struct ledger *ledger)
{
	ledger_write_event(ledger, GPULEAK_EVENT_RESTART, 0, 0, GPULEAK_SITE_NONE);
}

__attribute__((noinline)) void books_touch_first(struct ledger *ledger, struct ledger_site *site,
						 uint32_t number)
{
	if (!site->allocs)
		ledger_history(ledger, number)->first_step = ledger->step;
	site->touched = ledger->touched;
	ledger->touched = number + 1;
}

void ledger_touch(struct ledger *ledger, struct ledger_site *site, uint32_t number)
{
	books_touch(ledger, site, number);
}

__attribute__((noinline)) void books_hold(struct ledger *ledger, const struct block *block,
					  uint64_t resized, bool collected)
{
	struct ledger_held_free *held = memory_array_add(&ledger->held_frees, sizeof(*held));

	if (!held) {
		trace_count(&trace.state->dropped_events);
		return;
	}
	held->site = block_site(block);
	held->collected = collected;
	held->birth = block->birth;
	held->size = block_size(block);
	held->resized = resized;
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
		books_hold(ledger, older, size, false);
	blocks_put(table, &kept, &replaced);
	ledger_touch(ledger, site, block_site(older));
}

__attribute__((noinline)) uint32_t books_add(struct ledger *ledger, struct block_table *table,
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
	return books_site_alloc(ledger, block_site(block), size);
}
