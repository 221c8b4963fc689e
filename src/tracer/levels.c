#include "tracer/levels.h"

#include <string.h>

#include "tracer/banned.h"

static uint64_t *bucket(const struct levels *levels, uint64_t number)
{
	return levels->pairs + 2 * number * levels->values;
}

static void join(uint64_t *into, uint64_t lowest, uint64_t highest)
{
	if (lowest < into[0])
		into[0] = lowest;
	if (highest > into[1])
		into[1] = highest;
}

/* Two neighbours become one. */
static void fold(const struct levels *levels)
{
	size_t size = (size_t)2 * levels->values * sizeof(uint64_t);

	/* An odd one out is its own neighbour. */
	if (*levels->in_use % 2)
		memcpy(bucket(levels, *levels->in_use), bucket(levels, *levels->in_use - 1), size);
	*levels->in_use = (*levels->in_use + 1) / 2;
	for (size_t i = 0; i < *levels->in_use; i++) {
		const uint64_t *second = bucket(levels, 2 * i + 1);

		memmove(bucket(levels, i), bucket(levels, 2 * i), size);
		for (size_t j = 0; j < levels->values; j++)
			join(bucket(levels, i) + 2 * j, second[2 * j], second[2 * j + 1]);
	}
	++*levels->shift;
}

void levels_add(const struct levels *levels, uint64_t mark, const uint64_t *now)
{
	while (mark >> *levels->shift >= levels->room)
		fold(levels);
	for (; *levels->in_use <= mark >> *levels->shift; ++*levels->in_use)
		for (size_t j = 0; j < levels->values; j++)
			bucket(levels, *levels->in_use)[2 * j] =
				bucket(levels, *levels->in_use)[2 * j + 1] = now[j];
	for (size_t j = 0; j < levels->values; j++)
		join(bucket(levels, mark >> *levels->shift) + 2 * j, now[j], now[j]);
}
