/*
 * Blocks of the CUDA runtime, PyTorch's segments and what others take, and its answers to how much
 * is free.
 */
#include "tracer/ledger_books.h"
#include "tracer/python_collector.h"

#include "tracer/banned.h"

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
	ledger_catch_up(ledger);
	ledger->events++;
	site = ledger_find_site(ledger, stack, GPULEAK_SOURCE_CUDART, flags);
	if (books_can_hold(site, size)) {
		block = block_make(address, size, site, ledger->step);
		site = books_add(ledger, &ledger->cuda_blocks, &block, &grown);
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
	uint32_t file = books_site_free(ledger, block, python_collecting());

	ledger_write_event(ledger, GPULEAK_EVENT_CUDA_FREE, block->address,
			   -(int64_t)block_size(block), file);
	if (!is_segment(file))
		ledger_set_outside(ledger, ledger->outside - block_size(block));
	else if (ledger->reserved >= block_size(block))
		ledger_set_reserved(ledger, ledger->reserved - block_size(block));
}

bool ledger_cuda_free(struct ledger *ledger, uint64_t address)
{
	struct block block;
	bool known;

	lock_take(&ledger->lock);
	ledger_catch_up(ledger);
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
