#include "report/clock.h"

#include <stddef.h>

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
