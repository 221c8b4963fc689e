#include "report/company.h"

#include <stdlib.h>

#include "report/memory.h"

/* Numbers alone, a loss say, are as large as they are. */
static const uint64_t least_bytes = 512;

/* Not what depends on the parameters, nor what stands for others. */
static const uint8_t others = GPULEAK_SITE_OVERFLOW | GPULEAK_SITE_SEGMENT |
			      GPULEAK_SITE_OPTIMIZER | GPULEAK_SITE_WORKSPACE;

static bool counts(const struct snapshot_site *site, uint64_t steps)
{
	const struct gpuleak_site_version *at = &site->at;

	return site->growth > 0 && site->source == GPULEAK_SOURCE_TORCH &&
	       !(site->flags & others) && !at->live_blocks && at->allocs >= steps / 2 &&
	       at->alloc_bytes / at->allocs > least_bytes;
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

void company_init(struct company *company, const struct snapshot *snapshot,
		  const struct snapshot_device *device)
{
	*company = (struct company){
		.growths = memory_new(snapshot->site_count, sizeof(*company->growths)),
	};
	for (size_t i = 0; i < snapshot->site_count; i++) {
		const struct snapshot_site *site = &snapshot->sites[i];

		if (snapshot_device(snapshot, site) == device && counts(site, snapshot->steps))
			company->growths[company->count++] = site->growth;
	}
	if (company->count)
		qsort(company->growths, company->count, sizeof(*company->growths), compare);
}

void company_release(struct company *company)
{
	free(company->growths);
	*company = (struct company){0};
}
