/*
 * What a block is for, told by the calls that use it: a copy from the host fills an
 * input, cuBLAS is given its workspace, a loaded checkpoint is copied into the model.
 */
#include <string.h>

#include "tracer/hash.h"
#include "tracer/ledger.h"
#include "tracer/ledger_peak.h"
#include "tracer/trace_writer.h"

#include "tracer/banned.h"

bool ledger_filled_from_host(struct ledger *ledger, uint64_t address)
{
	const struct block *block;

	lock_take(&ledger->lock);
	ledger_catch_up(ledger);
	block = blocks_find(&ledger->torch_blocks, address);
	if (block && block->birth == ledger->step) {
		struct ledger_history *past = ledger_history(ledger, block_site(block));

		if (past->filled < UINT32_MAX - past->filled_before)
			(*(ledger->step ? &past->filled : &past->filled_before))++;
	}
	lock_give(&ledger->lock);
	return block != NULL;
}

/* There is a site of copied blocks.  Only rises. */
static bool any_copied;

/* The site with the stack of another one and that flag, or GPULEAK_SITE_NONE. */
static uint32_t site_with(struct ledger *ledger, uint32_t number, uint8_t flag)
{
	const struct gpuleak_site *like = &trace.sites[ledger_site(ledger, number)->file];
	struct gpuleak_site item = {
		.key = like->key,
		.stack = like->stack,
		.device = like->device,
		.source = like->source,
		.flags = like->flags | flag,
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
		ledger_note_peak(ledger, after, to);
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

/* A block of the step under way goes on as one of the site with that flag. */
static void part(struct ledger *ledger, uint64_t address, uint8_t flag)
{
	const struct block *block = blocks_find(&ledger->torch_blocks, address);
	struct block moved, replaced;
	uint32_t from, to;
	uint64_t size;

	if (!block || block->birth != ledger->step)
		return;
	from = block_site(block);
	size = block_size(block);
	to = site_with(ledger, from, flag);
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
		if (ledger->workspaces[i].address == address)
			return true;
	return false;
}

/* At a peak it is told at once what that is made of; else only what lives to the mark matters. */
bool ledger_used_as_workspace(struct ledger *ledger, uint64_t address)
{
	const struct block *block;

	lock_take(&ledger->lock);
	ledger_catch_up(ledger);
	block = blocks_find(&ledger->torch_blocks, address);
	if (ledger->allocated == ledger->peak)
		part(ledger, address, GPULEAK_SITE_WORKSPACE);
	else if (block && !is_noted(ledger, address) && ledger->workspace_count < LEDGER_WORKSPACES)
		ledger->workspaces[ledger->workspace_count++] =
			(struct ledger_workspace){address, block_size(block)};
	lock_give(&ledger->lock);
	return block != NULL;
}

void ledger_part_workspaces(struct ledger *ledger)
{
	for (uint32_t i = 0; i < ledger->workspace_count; i++) {
		const struct ledger_workspace *given = &ledger->workspaces[i];
		const struct block *block = blocks_find(&ledger->torch_blocks, given->address);

		if (block && block_size(block) == given->size)
			part(ledger, given->address, GPULEAK_SITE_WORKSPACE);
	}
	ledger->workspace_count = 0;
}

static bool string_ends(gpuleak_string_id id, const char *end)
{
	const uint8_t *string = trace.strings + 4 * (size_t)id;
	size_t size = strlen(end);
	uint32_t length;

	if (!id)
		return false;
	memcpy(&length, string, sizeof(length));
	return length >= size && memcmp(string + sizeof(length) + length - size, end, size) == 0;
}

/* Its stack is below torch.load() or what safetensors has of that kind. */
static bool site_loads(const struct ledger_site *site)
{
	uint32_t word = trace.sites[site->file].stack;
	uint32_t count = trace.stacks[word];

	for (uint32_t i = 0; i < count; i++) {
		gpuleak_string_id file = trace.frames[trace.stacks[word + 2 + i]].file;

		if (string_ends(file, "/torch/serialization.py") ||
		    string_ends(file, "/safetensors/torch.py"))
			return true;
	}
	return false;
}

static bool is_whole(const struct block *block, uint64_t size)
{
	const uint64_t rounding = 512; /* of PyTorch's allocator */

	return size <= block_size(block) && block_size(block) - size < rounding;
}

void ledger_copied(struct ledger *ledger, uint64_t from, uint64_t to, uint64_t size)
{
	const struct block *block;

	lock_take(&ledger->lock);
	ledger_catch_up(ledger);
	block = blocks_find(&ledger->torch_blocks, from);
	if (block && ledger->step == 0 && is_whole(block, size) &&
	    !ring_ends_in_alloc(&ledger->ring, to) &&
	    site_loads(ledger_site(ledger, block_site(block)))) {
		part(ledger, from, GPULEAK_SITE_COPIED);
		__atomic_store_n(&any_copied, true, __ATOMIC_RELAXED);
	}
	lock_give(&ledger->lock);
}

bool ledger_any_copied(void)
{
	return __atomic_load_n(&any_copied, __ATOMIC_RELAXED);
}

bool ledger_in_use(struct ledger *ledger, uint64_t address)
{
	const struct block *block;

	lock_take(&ledger->lock);
	ledger_catch_up(ledger);
	block = blocks_find(&ledger->torch_blocks, address);
	if (block)
		__atomic_fetch_and(&trace.sites[ledger_site(ledger, block_site(block))->file].flags,
				   (uint8_t)~GPULEAK_SITE_COPIED, __ATOMIC_RELAXED);
	lock_give(&ledger->lock);
	return block != NULL;
}
