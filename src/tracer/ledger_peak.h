/*
 * Totals of a ledger and which site held what at the highest of them.
 *
 * A new peak starts an epoch.  A site writes down its live bytes at its first change
 * after the peak, before that change; a site without a change since still holds
 * what it held then.  The ledger's lock is held in each call.
 */
#ifndef GPULEAK_TRACER_LEDGER_PEAK_H
#define GPULEAK_TRACER_LEDGER_PEAK_H

#include "tracer/ledger.h"

/* Before each change of a site's live bytes. */
static inline void ledger_note_peak(struct ledger *ledger, struct ledger_site *site,
				    uint32_t number)
{
	uint32_t epoch =
		site->source == GPULEAK_SOURCE_TORCH ? ledger->peak_epoch : ledger->outside_epoch;

	if (site->peak_epoch == epoch)
		return;
	site->peak_epoch = epoch;
	ledger_history(ledger, number)->peak_bytes = site->live_bytes;
}

/* After each change of PyTorch's total. */
static inline void ledger_set_allocated(struct ledger *ledger, uint64_t allocated)
{
	ledger->allocated = allocated;
	if (allocated > ledger->step_peak)
		ledger->step_peak = allocated;
	if (allocated < ledger->step_trough)
		ledger->step_trough = allocated;
	if (allocated <= ledger->peak)
		return;
	__atomic_store_n(&ledger->peak, allocated, __ATOMIC_RELAXED); /* ledger_at_peak() */
	ledger->peak_epoch++;
	ledger->peak_step = ledger->step;
}

/* After each change of what others than PyTorch took by cudaMalloc. */
static inline void ledger_set_outside(struct ledger *ledger, uint64_t outside)
{
	ledger->outside = outside;
	if (outside <= ledger->outside_peak)
		return;
	ledger->outside_peak = outside;
	ledger->outside_epoch++;
}

#endif
