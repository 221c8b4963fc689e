/*
 * A site made by hand: blocks are born and freed step by step, the statistics kept as
 * the tracer keeps them, then judged.
 */
#ifndef GPULEAK_TESTS_VERDICT_MADE_H
#define GPULEAK_TESTS_VERDICT_MADE_H

#include <stdint.h>
#include <string.h>

#include "report/verdict.h"
#include "tracer/evidence.h"
#include "tracer/teeth.h"

struct made {
	struct gpuleak_site_version version;
	struct gpuleak_evidence_version evidence;
	struct gpuleak_teeth teeth;
	struct evidence_level told;
	uint32_t step;
};

static inline void made_init(struct made *made)
{
	memset(made, 0, sizeof(*made));
	evidence_init(&made->evidence);
}

/* Blocks are born in the step under way and stay to its mark. */
static inline void made_born(struct made *made, uint32_t count, uint64_t bytes)
{
	if (made->version.allocs == 0)
		made->version.first_step = made->step;
	made->version.last_step = made->step;
	made->version.allocs += count;
	made->version.live_blocks += count;
	made->version.live_bytes += bytes;
	made->version.rounds++;
	evidence_born(&made->evidence, made->step, count, bytes);
}

static inline void made_freed(struct made *made, uint32_t birth, uint64_t bytes)
{
	uint32_t age = made->step - birth;

	made->version.last_step = made->step;
	made->version.frees++;
	made->version.live_blocks--;
	made->version.live_bytes -= bytes;
	if (age > made->version.max_age)
		made->version.max_age = age;
	evidence_died(&made->evidence, birth, made->step, bytes);
}

static inline void made_temporary(struct made *made, uint32_t count)
{
	made->version.allocs += count;
	made->version.frees += count;
	evidence_temporary(&made->evidence, count);
}

/* The mark of the step under way; the next step begins. */
static inline void made_mark(struct made *made)
{
	struct evidence_level now = {.bytes = made->version.live_bytes,
				     .blocks = made->version.live_blocks};

	if (now.bytes != made->told.bytes || now.blocks != made->told.blocks)
		evidence_level(&made->evidence, made->step, made->told, now);
	teeth_mark(&made->teeth, made->step, now.blocks);
	made->told = now;
	made->step++;
}

static inline struct verdict_site made_judged(const struct made *made,
					      const struct verdict_timeline *timeline)
{
	struct verdict_site site;

	verdict_site(&site, &(struct verdict_site_input){.now = made->step - 1,
							 .version = &made->version,
							 .evidence = &made->evidence,
							 .teeth = &made->teeth,
							 .collections = true,
							 .timeline = timeline});
	return site;
}

#endif
