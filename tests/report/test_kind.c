/* What kind of memory a finding is, and what it is said to be in units of the parameters. */
#include "report/kind.h"

#include "test.h"

enum {
	PARAMETERS = 1 << 20 /* bytes */
};

static struct finding made(struct snapshot_site *site, enum verdict label, uint64_t bytes)
{
	return (struct finding){.label = label, .site = site, .bytes = bytes};
}

static void kinds(const struct snapshot *snapshot)
{
	struct snapshot_site site = {.source = GPULEAK_SOURCE_TORCH};
	struct finding finding = made(&site, VERDICT_JUMP, PARAMETERS);

	EXPECT(kind_of(&finding, snapshot) == KIND_UNKNOWN);
	finding.place.forward = true;
	EXPECT(kind_of(&finding, snapshot) == KIND_ACTIVATION);
	finding.place.buckets = true; /* made anew in DistributedDataParallel's second forward */
	EXPECT(kind_of(&finding, snapshot) == KIND_GRADIENT);
	finding.bytes = 2 * PARAMETERS;
	EXPECT(kind_of(&finding, snapshot) == KIND_UNKNOWN);
	site.flags = GPULEAK_SITE_OPTIMIZER;
	EXPECT(kind_of(&finding, snapshot) == KIND_OPTIMIZER_STATE);
	finding.label = VERDICT_LEAK;
	EXPECT(kind_of(&finding, snapshot) == KIND_UNKNOWN);
}

static void sizes(const struct snapshot *snapshot)
{
	struct snapshot_site site = {.source = GPULEAK_SOURCE_TORCH};
	struct finding finding = made(&site, VERDICT_JUMP, 2 * PARAMETERS);
	struct snapshot unknown = {0};

	EXPECT(kind_in_parameters(&finding, snapshot) == 2);
	EXPECT(kind_in_parameters(&finding, &unknown) == 0);
	finding.bytes = 820ull * PARAMETERS; /* of parameters that joined later */
	EXPECT(kind_in_parameters(&finding, snapshot) == 0);
	finding = made(&site, VERDICT_LEAK, PARAMETERS);
	EXPECT(kind_in_parameters(&finding, snapshot) == 0);
}

int main(void)
{
	struct snapshot snapshot = {.mark.parameters_bytes = PARAMETERS};

	kinds(&snapshot);
	sizes(&snapshot);
	return test_result();
}
