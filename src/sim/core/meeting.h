#ifndef SIM_CORE_MEETING_H
#define SIM_CORE_MEETING_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/core/api.h"

/*
 * The ranks of a communicator wait for each other, as they do on GPUs: in joining, and whenever the
 * program waits for the GPU after a collective. No data goes between them.
 *
 * They meet in a page of shared memory on one machine. A rank that died, or that others wait for
 * too long, is not waited for any more. Any thread, holding no lock.
 */
struct gpusim_meeting;

enum {
	GPUSIM_MEETING_ID = 16 /* bytes that tell one meeting from the others */
};

/* Rank `rank` of `size` is there.  NULL: there's no room, and nobody will wait. */
SIM_EXPORT struct gpusim_meeting *gpusim_meeting_join(const void *id, int size, int rank);

/* Wait until all have joined.  This and the following take NULL, too. */
SIM_EXPORT void gpusim_meeting_wait(struct gpusim_meeting *meeting);

/* A call of a collective by this process; zeros: none that anybody waits in. */
struct gpusim_collective {
	uint64_t meeting, number;
};

/* The rank has called a collective: gpusim_meetings_wait() waits until all others have. */
SIM_EXPORT struct gpusim_collective gpusim_meeting_arrive(struct gpusim_meeting *meeting);

/* Have all others called it, too, or need they not? */
bool gpusim_collective_done(struct gpusim_collective collective);

/* Nobody need wait for this rank any more.  Frees the meeting. */
SIM_EXPORT void gpusim_meeting_leave(struct gpusim_meeting *meeting);

/* Who of a meeting is in the same part of it. */
struct gpusim_part {
	int size, rank;
	uint8_t id[GPUSIM_MEETING_ID]; /* for a meeting of that part */
};

/*
 * All ranks say which part they will be in, and in which order within it. False when they don't all
 * come.
 */
SIM_EXPORT bool gpusim_meeting_split(struct gpusim_meeting *meeting, int colour, int key,
				     struct gpusim_part *part);

/* Wait for the others in all the meetings of this process. */
void gpusim_meetings_wait(void);

#endif
