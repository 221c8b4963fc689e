/*
 * A small model of the tracer's ledger, to feed histories to the evidence and the
 * verdict without a traced process.  As there, nothing of the step under way is in
 * the evidence: births wait for the mark, frees of older blocks too.
 */
#ifndef GPULEAK_FAMILIES_LEDGER_H
#define GPULEAK_FAMILIES_LEDGER_H

#include "trace/format.h"
#include "world.h"

enum {
	LEDGER_TIMELINE = 2048, /* entries before neighbours are merged */
	LEDGER_CUTS = 2,	/* marks at which a verdict is wanted before the end */
};

struct ledger_site {
	struct gpuleak_site_version version;
	struct gpuleak_evidence_version *evidence; /* owned; NULL: holds nothing across marks */
	struct gpuleak_teeth teeth;
	uint32_t born; /* of the step under way, still alive */
	uint64_t born_bytes;
	uint32_t temporary; /* of the step under way */
	bool touched;
	uint64_t told_bytes; /* the level of the last mark */
	uint32_t told_blocks;
};

struct ledger_block {
	uint32_t birth;
};

/* A free of an older block, held back until the mark. */
struct ledger_death {
	uint32_t site;
	uint32_t birth;
	uint64_t bytes;
};

struct ledger {
	uint32_t mark;
	uint32_t marks_per_step; /* 1; 2: one in the middle too; 0: only every second step */
	uint32_t step;		 /* the one under way: mark + 1 */
	struct ledger_site sites[WORLD_SITES];
	uint32_t touched[WORLD_SITES];
	uint32_t touched_count;
	struct ledger_block *blocks; /* owned, by block number */
	uint32_t blocks_room;
	struct ledger_death *deaths; /* owned */
	uint32_t deaths_count, deaths_room;
	struct gpuleak_timeline_entry timeline[LEDGER_TIMELINE];
	uint32_t timeline_count, timeline_shift;
	struct gpuleak_timeline_entry open;
	uint64_t allocated, peak, reserved;
	uint64_t step_peak, step_trough;
	/* Called when the mark of a step in `cuts` is done. */
	uint32_t cuts[LEDGER_CUTS];
	void (*at_cut)(void *context, const struct ledger *ledger);
	void *cut_context;
};

void ledger_init(struct ledger *ledger);
void ledger_release(struct ledger *ledger);
struct sink ledger_sink(struct ledger *ledger);

/* What the engine says at the last mark; `sites` has room for WORLD_SITES. */
void ledger_judge(const struct ledger *ledger, struct verdict_site *sites,
		  struct verdict_device *device);

#endif
