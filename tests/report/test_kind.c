/* What kind of memory a finding is, and what it is said to be in units of the parameters. */
#include "report/kind.h"
#include "report/occasion.h"

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

static enum kind kind(const struct finding *finding)
{
	static const struct snapshot nothing;

	return kind_of(finding, &nothing);
}

/* Filled from the host step after step, not once. */
static void inputs(void)
{
	struct snapshot_site site = {.source = GPULEAK_SOURCE_TORCH,
				     .at = {.allocs = 30, .filled = 27}};
	struct finding finding = made(&site, VERDICT_STABLE, 4096);

	EXPECT(kind(&finding) == KIND_INPUT);
	finding.label = VERDICT_LEAK;
	finding.place.forward = true;
	EXPECT(kind(&finding) == KIND_INPUT);
	site.at.filled = 26;
	EXPECT(kind(&finding) == KIND_ACTIVATION);
	site.at = (struct gpuleak_site_version){.allocs = 2, .filled = 2};
	EXPECT(kind(&finding) == KIND_ACTIVATION);
	site.at = (struct gpuleak_site_version){.allocs = 3, .filled = 3};
	EXPECT(kind(&finding) == KIND_INPUT);
	finding.place.forward = false;
	finding.place.occasions = PLACE_LOADED;
	EXPECT(kind(&finding) == KIND_UNKNOWN);
	finding.place.occasions = PLACE_WEIGHTS;
	EXPECT(kind(&finding) == KIND_UNKNOWN);
	finding.place.occasions = 0;
	finding.place.parameters = true; /* a model of each trial */
	EXPECT(kind(&finding) == KIND_UNKNOWN);
}

static void workspaces(void)
{
	struct snapshot_site site = {.source = GPULEAK_SOURCE_TORCH,
				     .flags = GPULEAK_SITE_WORKSPACE | GPULEAK_SITE_BACKWARD};
	struct finding finding = made(&site, VERDICT_JUMP, 32 << 20);

	finding.place.forward = true;
	EXPECT(kind(&finding) == KIND_WORKSPACE);
	EXPECT(kind_is_normal(KIND_WORKSPACE));
	site.flags = GPULEAK_SITE_BACKWARD;
	finding.label = VERDICT_NOISY;
	EXPECT(kind(&finding) == KIND_UNKNOWN);
	finding.place.workspace = true;
	EXPECT(kind(&finding) == KIND_WORKSPACE);
}

static void caches(void)
{
	struct snapshot_site site = {.source = GPULEAK_SOURCE_TORCH};
	struct verdict_site verdict = {.reason = VERDICT_REASON_REPLACED};
	struct finding finding = made(&site, VERDICT_PLATEAU, 4096);

	finding.verdict = &verdict;
	EXPECT(kind(&finding) == KIND_CACHE);
	finding.place.occasions = PLACE_COPIED; /* the best models so far */
	EXPECT(kind(&finding) == KIND_UNKNOWN);
	finding.place.occasions = 0;
	verdict.reason = VERDICT_REASON_STOPPED;
	EXPECT(kind(&finding) == KIND_UNKNOWN);
	finding.label = VERDICT_LEAK; /* a key-value cache of transformers that never ends */
	finding.place.forward = true;
	finding.place.occasions = PLACE_CACHED;
	EXPECT(kind(&finding) == KIND_CACHE);
}

/* Of those that the frames tell corpus programs see that they are told. */
static void occasions(const struct snapshot *snapshot)
{
	struct snapshot_site site = {.source = GPULEAK_SOURCE_TORCH, .at.first_step = 40};
	struct verdict_site verdict = {.birth_count = 1, .births = {{.first = 40}}};
	struct finding finding = made(&site, VERDICT_JUMP, PARAMETERS);

	finding.verdict = &verdict;
	finding.place.occasions = PLACE_VALIDATING;
	EXPECT_STR(occasion_text(&finding, snapshot), "kept by the first validation");
	verdict.births[0].first = 50;
	EXPECT_STR(occasion_text(&finding, snapshot), "kept by a validation");
	finding.place.occasions = 0;
	finding.blocks = 4;
	EXPECT_STR(occasion_text(&finding, snapshot),
		   "in as many blocks as the model, such as a checkpoint or an average of it");
	finding.blocks = 3;
	EXPECT(!occasion_text(&finding, snapshot));
	finding.blocks = 9;
	EXPECT(!occasion_text(&finding, snapshot));
	finding.blocks = 4;
	finding.bytes *= 2;
	EXPECT(!occasion_text(&finding, snapshot));
	site.flags = GPULEAK_SITE_WORKSPACE;
	EXPECT_STR(occasion_text(&finding, snapshot),
		   "cuBLAS's, made once for each thread and stream");
	finding.label = VERDICT_PLATEAU;
	EXPECT(!occasion_text(&finding, snapshot));
}

/* Made before step 1, or once later. */
static void gradients(const struct snapshot *snapshot)
{
	struct snapshot_site site = {.source = GPULEAK_SOURCE_TORCH,
				     .flags = GPULEAK_SITE_BACKWARD};
	struct verdict_site verdict = {.reason = VERDICT_REASON_BASELINE};
	struct finding finding = made(&site, VERDICT_STABLE, PARAMETERS);

	finding.verdict = &verdict;
	EXPECT(kind_of(&finding, snapshot) == KIND_GRADIENT);
	verdict.reason = VERDICT_REASON_FLAT;
	EXPECT(kind_of(&finding, snapshot) == KIND_UNKNOWN);
	finding.label = VERDICT_JUMP;
	EXPECT(kind_of(&finding, snapshot) == KIND_GRADIENT);
	finding.bytes *= 2;
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
	struct snapshot snapshot = {
		.mark = {.parameters_bytes = PARAMETERS, .parameters_count = 4}};

	kinds(&snapshot);
	inputs();
	workspaces();
	caches();
	occasions(&snapshot);
	gradients(&snapshot);
	sizes(&snapshot);
	return test_result();
}
