/* Two versions that take turns, each made from the other, are what one record would be. */
#include <stddef.h>
#include <stdlib.h>

#include "tracer/evidence.h"

#include "test.h"

enum {
	HISTORIES = 200,
	MARKS = 600
};

/* What a mark does to the evidence of a site. */
struct change {
	uint32_t step, born, temporaries;
	struct evidence_level before, after;
	uint32_t died; /* birth step of a block that died; 0: none */
};

static void apply(struct gpuleak_evidence_version *to, const struct change *change)
{
	if (change->died)
		evidence_died(to, change->died, change->step, 512);
	if (change->temporaries)
		evidence_temporary(to, change->temporaries);
	if (change->born)
		evidence_born(to, change->step, change->born, 512ull * change->born);
	evidence_level(to, change->step, change->before, change->after);
}

static bool same(const struct gpuleak_evidence_version *a, const struct gpuleak_evidence_version *b)
{
	size_t from = offsetof(struct gpuleak_evidence_version, birth_shift);

	return memcmp((const char *)a + from, (const char *)b + from, sizeof(*a) - from) == 0;
}

static void history(unsigned seed)
{
	struct gpuleak_evidence_version versions[2] = {{0}}, whole = {0};
	struct change change = {0};
	unsigned kept = (unsigned)rand_r(&seed) % 4; /* of four marks, so many with births */
	unsigned last = 0;

	for (unsigned mark = 0; mark < MARKS; mark++) {
		change.step += 1 + (unsigned)rand_r(&seed) % (seed % 5 ? 2 : 200);
		change.born = (unsigned)rand_r(&seed) % 4 < kept ? 1 : 0;
		change.temporaries = (unsigned)rand_r(&seed) % 3;
		change.died = rand_r(&seed) % 2 ? 1 + (unsigned)rand_r(&seed) % change.step : 0;
		change.before = change.after;
		change.after.bytes = (unsigned)rand_r(&seed) % 4096;
		change.after.blocks = (unsigned)rand_r(&seed) % 8;

		evidence_copy(&versions[!last], &versions[last]);
		last = !last;
		apply(&versions[last], &change);
		apply(&whole, &change);
		EXPECT(same(&versions[last], &whole));
	}
}

int main(void)
{
	for (unsigned seed = 1; seed <= HISTORIES; seed++)
		history(seed);
	return test_result();
}
