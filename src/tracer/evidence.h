/*
 * Birth-step evidence of one site, kept up to date in bounded memory: from which
 * steps today's live blocks come, at what age the others died, how much was alive
 * at each mark.  The working copy has the same form as in the file.
 *
 * Pure functions on the caller's memory: no lock, no allocation, no errno.  The
 * caller holds the lock of the site's ledger.
 */
#ifndef GPULEAK_TRACER_EVIDENCE_H
#define GPULEAK_TRACER_EVIDENCE_H

#include <stdint.h>

#include "trace/format.h"

/* A site's live memory at a mark. */
struct evidence_level {
	uint64_t bytes;
	uint32_t blocks;
};

/* No births, no deaths, nothing alive at any mark so far. */
void evidence_init(struct gpuleak_evidence_version *evidence);

/*
 * Make `into` what `last` is, but for its mark.  `into` is all zero or an earlier state
 * of the same site's: only what may have changed since is copied.
 */
void evidence_copy(struct gpuleak_evidence_version *into,
		   const struct gpuleak_evidence_version *last);

/*
 * `count` blocks born in `step` were alive at that step's mark.  Steps come in
 * ascending order.  When all entries are in use neighbours are merged.
 */
void evidence_born(struct gpuleak_evidence_version *evidence, uint32_t step, uint32_t count,
		   uint64_t bytes);

/* A block that evidence_born() counted was freed in step `now`, `now` >= `birth`. */
void evidence_died(struct gpuleak_evidence_version *evidence, uint32_t birth, uint32_t now,
		   uint64_t bytes);

/* A block that evidence_born() counted has another size now. */
void evidence_resized(struct gpuleak_evidence_version *evidence, uint32_t birth, uint64_t before,
		      uint64_t after);

/* A block was born and freed within one step. */
void evidence_temporary(struct gpuleak_evidence_version *evidence, uint32_t count);

/*
 * `after` was alive at the mark of `step`, and `before` at every mark since the
 * last call (or since step 0).  Called only when the two differ or at promotion.
 */
void evidence_level(struct gpuleak_evidence_version *evidence, uint32_t step,
		    struct evidence_level before, struct evidence_level after);

#endif
