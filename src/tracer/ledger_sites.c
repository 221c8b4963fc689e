/*
 * Which site an allocation is of, by its stack.
 */
#include "tracer/ledger.h"

#include "tracer/hash.h"
#include "tracer/hot.h"
#include "tracer/native_loader.h"
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

HOT_CODE uint32_t ledger_find_site(struct ledger *ledger, const struct stack *stack,
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
