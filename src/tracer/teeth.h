/*
 * Teeth of a site's live blocks: how often they pile up and go again, whatever
 * happens beside that.  Kept up to date at the marks, in the form of the file.
 *
 * Pure functions on the caller's memory.  The caller holds the lock of the site's ledger.
 */
#ifndef GPULEAK_TRACER_TEETH_H
#define GPULEAK_TRACER_TEETH_H

#include <stdint.h>

#include "trace/format.h"

/*
 * `blocks` are alive at the mark of `step`.  Steps come in ascending order; marks at which
 * the number is what it was may be left out.
 */
void teeth_mark(struct gpuleak_teeth *teeth, uint32_t step, uint32_t blocks);

#endif
