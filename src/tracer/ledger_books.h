/*
 * What an event does to a ledger's books: the block, its site, the ring.
 *
 * For the ledger's own files; the caller holds the lock.  Inline is what is usual.
 */
#ifndef GPULEAK_TRACER_LEDGER_BOOKS_H
#define GPULEAK_TRACER_LEDGER_BOOKS_H

#include "tracer/ledger.h"
#include "tracer/ledger_peak.h"
#include "tracer/trace_writer.h"

/* The first change of a site since the last mark. */
void books_touch_first(struct ledger *ledger, struct ledger_site *site, uint32_t number);

/*
 * A free of an older block waits for the mark: a process that tears down frees everything.
 * So does its new size, `resized`; 0: it is freed.  `collected`: Python's collector was at work.
 */
void books_hold(struct ledger *ledger, const struct block *block, uint64_t resized, bool collected);

/* The item of the block's site, and by how much that one's live bytes grew. */
uint32_t books_add(struct ledger *ledger, struct block_table *table, const struct block *block,
		   uint64_t *grown);

/* The time is that of ring_read_clock(). */
static inline void books_write_event(struct ledger *ledger, enum gpuleak_event_kind kind,
				     uint64_t address, int64_t size, uint32_t site)
{
	struct gpuleak_event event = {
		.address = address,
		.size = size,
		.site = site,
		.step = ledger->step,
	};

	ring_write(&ledger->ring, (struct ring_totals){ledger->allocated, ledger->reserved}, kind,
		   event);
}

static inline void books_touch(struct ledger *ledger, struct ledger_site *site, uint32_t number)
{
	site->last_step = ledger->step;
	if (!site->touched)
		books_touch_first(ledger, site, number);
}

/* The site's item in the trace. */
static inline uint32_t books_site_alloc(struct ledger *ledger, uint32_t number, uint64_t size)
{
	struct ledger_site *site = ledger_site(ledger, number);

	ledger_note_peak(ledger, site, number);
	books_touch(ledger, site, number);
	site->allocs++;
	site->alloc_bytes += size;
	site->live_blocks++;
	site->live_bytes += size;
	site->born++;
	site->born_bytes += size;
	return site->file;
}

/* The same. */
static inline uint32_t books_site_free(struct ledger *ledger, const struct block *block,
				       bool collected)
{
	struct ledger_site *site = ledger_site(ledger, block_site(block));

	ledger_note_peak(ledger, site, block_site(block));
	books_touch(ledger, site, block_site(block));
	site->live_blocks--;
	site->live_bytes -= block_size(block);
	if (__builtin_expect(block->birth == ledger->step, 1)) {
		site->born--;
		site->born_bytes -= block_size(block);
		site->temporaries++;
	} else {
		books_hold(ledger, block, 0, collected);
	}
	return site->file;
}

/* GPULEAK_SITE_NONE is above any. */
static inline bool books_can_hold(uint32_t site, uint64_t size)
{
	if (__builtin_expect(site <= BLOCK_SITE_MAX && size <= BLOCK_SIZE_MAX, 1))
		return true;
	trace_count(&trace.state->dropped_blocks);
	return false;
}

#endif
