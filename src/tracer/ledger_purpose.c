/*
 * What a block is for, told by the calls that use it: a copy from the host fills an
 * input, cuBLAS is given its workspace.
 */
#include "tracer/hash.h"
#include "tracer/ledger.h"
#include "tracer/ledger_peak.h"
#include "tracer/trace_writer.h"

#include "tracer/banned.h"

bool ledger_filled_from_host(struct ledger *ledger, uint64_t address)
{
	const struct block *block;
	struct ledger_history *past;

	lock_take(&ledger->lock);
	block = blocks_find(&ledger->torch_blocks, address);
	if (block && ledger->step && block->birth == ledger->step) {
		past = ledger_history(ledger, block_site(block));
		if (past->filled < UINT32_MAX)
			past->filled++;
	}
	lock_give(&ledger->lock);
	return block != NULL;
}

/* The site with the stack of another one and that flag, or GPULEAK_SITE_NONE. */
static uint32_t workspace_site(struct ledger *ledger, uint32_t number)
{
	const struct gpuleak_site *like = &trace.sites[ledger_site(ledger, number)->file];
	struct gpuleak_site item = {
		.key = like->key,
		.stack = like->stack,
		.device = like->device,
		.source = like->source,
		.flags = like->flags | GPULEAK_SITE_WORKSPACE,
	};
	uint64_t content = hash_mix(item.key, (uint64_t)item.source << 8 | item.flags);
	uint32_t site;

	if (like->flags & GPULEAK_SITE_OVERFLOW)
		return GPULEAK_SITE_NONE;
	site = map_get(&ledger->by_content, content);
	return site != MAP_MISSING ? site : ledger_add_site(ledger, &item, content);
}

/*
 * As if the one site had never allocated the block, and the other one had.  What the first has
 * written down of the peak stays its own, since it may be from before the block; so do both
 * sites' bytes at the peak come to the same.
 */
static void move(struct ledger *ledger, uint32_t from, uint32_t to, uint64_t size)
{
	struct ledger_site *before = ledger_site(ledger, from);
	struct ledger_site *after = ledger_site(ledger, to);

	if (before->peak_epoch == ledger->peak_epoch)
		ledger_note_peak(ledger, to);
	before->allocs--;
	before->alloc_bytes -= size;
	before->live_blocks--;
	before->live_bytes -= size;
	before->born--;
	before->born_bytes -= size;
	if (!after->allocs)
		ledger_history(ledger, to)->first_step = ledger->step;
	after->allocs++;
	after->alloc_bytes += size;
	after->live_blocks++;
	after->live_bytes += size;
	after->born++;
	after->born_bytes += size;
	ledger_touch(ledger, after, to);
}

static void part(struct ledger *ledger, uint64_t address)
{
	const struct block *block = blocks_find(&ledger->torch_blocks, address);
	struct block moved, replaced;
	uint32_t from, to;
	uint64_t size;

	if (!block || block->birth != ledger->step)
		return;
	from = block_site(block);
	size = block_size(block);
	to = workspace_site(ledger, from);
	if (to > BLOCK_SITE_MAX || to == from)
		return;
	moved = block_make(address, size, to, ledger->step);
	blocks_put(&ledger->torch_blocks, &moved, &replaced);
	ledger_write_event(ledger, GPULEAK_EVENT_FREE, address, -(int64_t)size,
			   ledger_site(ledger, from)->file);
	ledger_write_event(ledger, GPULEAK_EVENT_ALLOC, address, (int64_t)size,
			   ledger_site(ledger, to)->file);
	move(ledger, from, to, size);
}

static bool is_noted(const struct ledger *ledger, uint64_t address)
{
	for (uint32_t i = 0; i < ledger->workspace_count; i++)
		if (ledger->workspaces[i] == address)
			return true;
	return false;
}

/* At a peak it is told at once what that is made of; else only what lives to the mark matters. */
bool ledger_used_as_workspace(struct ledger *ledger, uint64_t address)
{
	const struct block *block;

	lock_take(&ledger->lock);
	block = blocks_find(&ledger->torch_blocks, address);
	if (ledger->allocated == ledger->peak)
		part(ledger, address);
	else if (block && block->birth == ledger->step && !is_noted(ledger, address) &&
		 ledger->workspace_count < LEDGER_WORKSPACES)
		ledger->workspaces[ledger->workspace_count++] = address;
	lock_give(&ledger->lock);
	return block != NULL;
}

void ledger_part_workspaces(struct ledger *ledger)
{
	for (uint32_t i = 0; i < ledger->workspace_count; i++)
		part(ledger, ledger->workspaces[i]);
	ledger->workspace_count = 0;
}
