#include "tracer/code_watch.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "tracer/ledger.h"
#include "tracer/memory.h"
#include "tracer/python_stack.h"

#include "tracer/banned.h"

enum {
	SLOT_BITS = 16,
	SLOTS = 1 << SLOT_BITS,
	FULL = SLOTS / 4 * 3,
	DEAD = 1
};

/*
 * An open-addressed set of addresses without a lock: slots go from 0 to an address
 * to DEAD and never back, so a look-up may stop at 0.  Full: every death counts.
 */
static _Atomic(uintptr_t) *slots;
static _Atomic(unsigned) used;

static unsigned home(uintptr_t code)
{
	return (unsigned)(((uint64_t)code >> 4) * 0x9e3779b97f4a7c15ull >> (64 - SLOT_BITS));
}

void code_watch_seen(const void *code)
{
	uintptr_t address = (uintptr_t)code;
	unsigned i = home(address);

	if (!slots || !address || atomic_load(&used) >= FULL)
		return;
	for (;; i = (i + 1) % SLOTS) {
		uintptr_t empty = 0;

		if (atomic_load_explicit(&slots[i], memory_order_acquire) == address)
			return;
		if (atomic_compare_exchange_strong(&slots[i], &empty, address)) {
			atomic_fetch_add(&used, 1);
			return;
		}
		if (empty == address)
			return;
	}
}

static bool forget(uintptr_t address)
{
	if (atomic_load(&used) >= FULL)
		return true;
	for (unsigned i = home(address);; i = (i + 1) % SLOTS) {
		uintptr_t found = atomic_load_explicit(&slots[i], memory_order_acquire);

		if (found == 0)
			return false;
		if (found == address) {
			atomic_store_explicit(&slots[i], DEAD, memory_order_release);
			return true;
		}
	}
}

/* Called with the GIL held, by whichever thread lets go of the last reference. */
static void died(const void *code)
{
	if (forget((uintptr_t)code))
		ledger_code_died();
}

void code_watch_start(void)
{
	if (!slots)
		slots = memory_take(SLOTS * sizeof(*slots));
	/* What was seen before is not in the set: start anew once. */
	if (slots && python_watch_code(died))
		ledger_code_died();
}
