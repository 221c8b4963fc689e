/* Teeth: how often blocks pile up and go, beside whatever else there is. */
#include "tracer/teeth.h"

#include "test.h"

enum {
	STEPS = 400
};

/* Blocks at the mark of each step, from a function of it. */
static struct gpuleak_teeth marked(uint32_t (*blocks)(uint32_t step), uint32_t steps)
{
	struct gpuleak_teeth teeth = {0};

	for (uint32_t step = 0; step <= steps; step++)
		teeth_mark(&teeth, step, blocks(step));
	return teeth;
}

static uint32_t even(uint32_t step)
{
	return 100 + step % 20;
}

/* Twelve steps, then fifteen, and so on. */
static uint32_t uneven(uint32_t step)
{
	return step % 27 < 12 ? step % 27 : step % 27 - 12;
}

/* Freed over four steps, as the generations of a collector do. */
static uint32_t slowly_freed(uint32_t step)
{
	static const uint32_t last[] = {30, 20, 10, 2};

	return step % 40 < 36 ? step % 40 : last[step % 40 - 36];
}

static uint32_t rippled(uint32_t step)
{
	return even(step) + 5 * (step % 2);
}

static uint32_t small_then_tall(uint32_t step)
{
	return step < 200 ? step % 10 : step % 50;
}

static uint32_t queue(uint32_t step)
{
	return step % 3;
}

static uint32_t rising(uint32_t step)
{
	return step;
}

static uint32_t falling(uint32_t step)
{
	return 500 - step;
}

static uint32_t only_base(uint32_t step)
{
	return step > 10 && step < 20 ? 20 : 40;
}

static void counts_even_teeth(void)
{
	struct gpuleak_teeth teeth = marked(even, STEPS);

	/* The last one fell in step 400, and nothing has piled up since. */
	EXPECT_U64(teeth.count, STEPS / 20 - 1);
	EXPECT_U64(teeth.first_step, 20);
	EXPECT_U64(teeth.last_step, STEPS - 20);
	EXPECT_U64(teeth.shortest, 20);
	EXPECT_U64(teeth.longest, 20);
	EXPECT_U64(teeth.tallest, 19);
}

static void counts_uneven_teeth(void)
{
	struct gpuleak_teeth teeth = marked(uneven, STEPS);

	EXPECT_U64(teeth.shortest, 12);
	EXPECT_U64(teeth.longest, 15);
	EXPECT_U64(teeth.last_step - teeth.first_step, (uint64_t)(teeth.count - 1) * 27 / 2);
}

static void takes_a_slow_fall_for_one(void)
{
	struct gpuleak_teeth teeth = marked(slowly_freed, STEPS);

	EXPECT_U64(teeth.shortest, 40);
	EXPECT_U64(teeth.longest, 40);
	EXPECT_U64(teeth.tallest, 35);
}

static void leaves_ripples_out(void)
{
	struct gpuleak_teeth teeth = marked(rippled, STEPS);

	EXPECT_U64(teeth.shortest, 20);
	EXPECT_U64(teeth.longest, 20);
	EXPECT_U64(teeth.tallest, 24);
}

static void begins_anew_with_a_taller_one(void)
{
	struct gpuleak_teeth teeth = marked(small_then_tall, 600);

	EXPECT_U64(teeth.first_step, 250);
	EXPECT_U64(teeth.shortest, 50);
	EXPECT_U64(teeth.longest, 50);
}

static void finds_none_where_there_is_none(void)
{
	EXPECT_U64(marked(queue, STEPS).count, 0);
	EXPECT_U64(marked(rising, STEPS).count, 0);
	EXPECT_U64(marked(falling, STEPS).count, 0);
	EXPECT_U64(marked(only_base, STEPS).count, 1);
}

/* Marks without a change may be left out. */
static void is_the_same_without_flat_marks(void)
{
	struct gpuleak_teeth all = {0}, changes = {0};
	uint32_t last = 0;

	for (uint32_t step = 0; step <= STEPS; step++) {
		uint32_t blocks = even(step / 3);

		teeth_mark(&all, step, blocks);
		if (blocks != last)
			teeth_mark(&changes, step, blocks);
		last = blocks;
	}
	EXPECT_U64(all.count, changes.count);
	EXPECT_U64(all.shortest, 60);
	EXPECT(memcmp(&all, &changes, sizeof(all)) == 0);
}

int main(void)
{
	counts_even_teeth();
	counts_uneven_teeth();
	takes_a_slow_fall_for_one();
	leaves_ripples_out();
	begins_anew_with_a_taller_one();
	finds_none_where_there_is_none();
	is_the_same_without_flat_marks();
	return test_result();
}
