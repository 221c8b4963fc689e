#include "report/clock.h"

#include <stddef.h>

#include "report/place.h"
#include "trace/format.h"

static const struct {
	const char *name;
	const char *meaning;
} clocks[] = {
	[GPULEAK_CLOCK_NONE] = {NULL, "no clock"},
	[GPULEAK_CLOCK_OPTIMIZER] = {"optimizer", "optimizer steps"},
	[GPULEAK_CLOCK_EXPLICIT] = {"explicit", "calls of gpuleak_step()"},
	[GPULEAK_CLOCK_BACKWARD] = {"backward", "backward passes"},
	[GPULEAK_CLOCK_MODULE] = {"module", "calls of the outermost module"},
	[GPULEAK_CLOCK_LOOP] = {"loop", "turns of the loop"},
	[GPULEAK_CLOCK_NVTX] = {"nvtx", "NVTX ranges"},
	[GPULEAK_CLOCK_TIME] = {"time", "spans of time"},
};

enum {
	CLOCKS = sizeof(clocks) / sizeof(clocks[0])
};

const char *clock_name(uint32_t clock)
{
	return clock < CLOCKS ? clocks[clock].name : NULL;
}

const char *clock_meaning(uint32_t clock)
{
	return clock < CLOCKS ? clocks[clock].meaning : "a clock this program doesn't know";
}

/* The newest note that says it; a lead may have been found before the first mark. */
const struct gpuleak_frame *clock_line(struct code_map *map)
{
	const struct snapshot *snapshot = map->snapshot;
	uint32_t clock = snapshot->state.clock;
	struct place place = {.where = NULL};
	struct stack stack;

	if (clock != GPULEAK_CLOCK_LOOP && clock != GPULEAK_CLOCK_MODULE)
		return NULL;
	for (size_t i = snapshot->note_count; i-- > 0;) {
		if (snapshot->notes[i].kind != GPULEAK_NOTE_CLOCK)
			continue;
		if (names_stack(&snapshot->names, snapshot->notes[i].stack, &stack))
			place_of_stack(&place, map, &stack);
		break;
	}
	return place.where;
}
