/* The curve over 100,000 steps in 64 entries: whole, in order, no peak lost. */
#include "tracer/timeline.h"

#include "tracer/trace_writer.h"

#include "test.h"

enum {
	SHARE = 65,
	STEPS = 100000,
	HIGHEST = 77777
};

struct trace trace;

static struct gpuleak_timeline_entry entries[2 * SHARE * GPULEAK_DEVICES_MAX];

static struct gpuleak_timeline_entry entry_of(uint32_t step)
{
	return (struct gpuleak_timeline_entry){
		.first_step = step,
		.last_step = step,
		.when = step * 10,
		.allocated = step,
		.peak = step == HIGHEST ? 1ull << 40 : step + 5,
		.trough = step,
		.reserved = 2 * (uint64_t)step,
	};
}

static void check(const struct gpuleak_device_version *place, uint32_t device, uint32_t steps)
{
	const struct gpuleak_timeline_entry *half =
		entries + (2 * (size_t)device + place->timeline_half) * SHARE;
	uint32_t next = 1;
	bool highest = false;

	for (uint32_t i = 0; i < place->timeline_count; i++) {
		EXPECT_U64(half[i].first_step, next);
		EXPECT_U64(half[i].trough, half[i].first_step);
		EXPECT_U64(half[i].allocated, half[i].last_step);
		EXPECT_U64(half[i].reserved, 2 * (uint64_t)half[i].last_step);
		highest = highest || half[i].peak == 1ull << 40;
		next = half[i].last_step + 1;
	}
	if (place->open.first_step) {
		EXPECT_U64(place->open.first_step, next);
		next = place->open.last_step + 1;
	}
	EXPECT_U64(next, steps + 1);
	EXPECT_U64(highest, steps >= HIGHEST);
	EXPECT(place->timeline_count <= SHARE);
	EXPECT(steps < SHARE || place->timeline_count >= SHARE / 2 - 1);
}

int main(void)
{
	struct gpuleak_device_version place = {0};

	trace.timeline = entries;
	trace.timeline_share = SHARE;
	for (uint32_t step = 1; step <= STEPS; step++) {
		struct gpuleak_timeline_entry entry = entry_of(step);

		timeline_add(&place, 3, &entry);
		if (step % 997 == 0 || step < 300)
			check(&place, 3, step);
	}
	check(&place, 3, STEPS);
	return test_result();
}
