#include "tracer/teeth.h"

enum {
	LEAST = 3, /* blocks: what is less is no tooth */
};

/* So many blocks more or fewer are a change of direction. */
static uint32_t threshold(const struct gpuleak_teeth *teeth)
{
	uint32_t half = teeth->tallest / 2;

	return half > LEAST ? half : LEAST;
}

static void add(struct gpuleak_teeth *teeth, uint32_t height, uint32_t step)
{
	uint32_t gap = step - teeth->last_step;

	if (height / 2 > teeth->tallest)
		teeth->count = teeth->shortest = teeth->longest = 0;
	if (!teeth->count)
		teeth->first_step = step;
	else if (!teeth->shortest || gap < teeth->shortest)
		teeth->shortest = gap;
	if (teeth->count && gap > teeth->longest)
		teeth->longest = gap;
	if (height > teeth->tallest)
		teeth->tallest = height;
	teeth->last_step = step;
	teeth->count++;
}

/* The blocks pile up again: the tooth before is over. */
static void begin(struct gpuleak_teeth *teeth, uint32_t blocks)
{
	add(teeth, teeth->highest - teeth->lowest, teeth->lowest_step);
	teeth->falling = 0;
	teeth->highest = blocks;
}

static void fall_to(struct gpuleak_teeth *teeth, uint32_t step, uint32_t blocks)
{
	teeth->falling = 1;
	teeth->lowest = blocks;
	teeth->lowest_step = step;
}

void teeth_mark(struct gpuleak_teeth *teeth, uint32_t step, uint32_t blocks)
{
	uint32_t turn = threshold(teeth);

	if (teeth->falling) {
		if (blocks < teeth->lowest)
			fall_to(teeth, step, blocks);
		else if (blocks - teeth->lowest >= turn)
			begin(teeth, blocks);
	} else if (blocks >= teeth->highest) {
		teeth->highest = blocks;
	} else if (teeth->highest - blocks >= turn) {
		fall_to(teeth, step, blocks);
	}
}
