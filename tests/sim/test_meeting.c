/* Ranks wait for each other, in processes of their own; meeting.c is built with 1 s of patience. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim/core/meeting.h"
#include "sim/core/notice.h"
#include "test.h"

enum {
	NO_COLOUR = -1
};

/* What the ranks of a test share beside the meeting. */
static struct {
	_Atomic int noted;
	_Atomic int complaints;
} * shared;

static uint8_t id[GPUSIM_MEETING_ID];

void gpusim_waited(int rank, int other, int seconds)
{
	(void)rank;
	(void)other;
	(void)seconds;
	shared->complaints++;
}

static void pause_ms(long ms)
{
	struct timespec pause = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&pause, NULL);
}

/* Run `act` as each of `size` ranks; each has its own process. */
static void as_ranks(int size, void (*act)(int rank, int size))
{
	EXPECT(getrandom(id, sizeof(id), 0) == sizeof(id));
	shared->noted = 0;
	shared->complaints = 0;
	for (int rank = 0; rank < size; rank++) {
		pid_t child = fork();

		if (child == 0) {
			act(rank, size);
			exit(test_result());
		}
	}
	for (int rank = 0; rank < size; rank++) {
		int status = 0;

		EXPECT(wait(&status) > 0);
		EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
}

static struct gpusim_meeting *join(int rank, int size)
{
	struct gpusim_meeting *meeting = gpusim_meeting_join(id, size, rank);

	EXPECT(meeting != NULL);
	return meeting;
}

static void nobody_is_early(int rank, int size)
{
	struct gpusim_meeting *meeting;

	if (rank == 1)
		pause_ms(50);
	shared->noted++;
	meeting = join(rank, size);
	gpusim_meeting_wait(meeting);
	EXPECT(shared->noted == size);
}

static void all_come_to_each_collective(int rank, int size)
{
	struct gpusim_meeting *meeting = join(rank, size);

	for (int round = 1; round <= 20; round++) {
		struct gpusim_collective collective;

		if (round % size == rank)
			pause_ms(3);
		shared->noted++;
		collective = gpusim_meeting_arrive(meeting);
		if (round % 2)
			gpusim_meetings_wait();
		while (!gpusim_collective_done(collective))
			pause_ms(1);
		EXPECT(shared->noted >= round * size);
	}
	gpusim_meeting_leave(meeting);
}

/* Rank 0 is done with the first collective, and doesn't wait for those it has not called. */
static void who_is_behind_waits_for_nobody(int rank, int size)
{
	struct gpusim_meeting *meeting = join(rank, size);

	for (int i = 0; i < (rank ? 5 : 1); i++)
		gpusim_meeting_arrive(meeting);
	if (rank == 0) {
		gpusim_meetings_wait();
		shared->noted = 1;
		pause_ms(20);
		gpusim_meeting_leave(meeting);
	} else {
		gpusim_meetings_wait();
		EXPECT(shared->noted == 1);
	}
	EXPECT(shared->complaints == 0);
}

static void the_dead_are_not_waited_for(int rank, int size)
{
	struct gpusim_meeting *meeting = join(rank, size);

	gpusim_meeting_wait(meeting);
	if (rank == 1)
		_exit(0);
	gpusim_meeting_arrive(meeting);
	gpusim_meetings_wait();
	EXPECT(shared->complaints == 0);
}

static void patience_ends(int rank, int size)
{
	struct gpusim_meeting *meeting = join(rank, size);

	if (rank == 1) {
		for (int i = 0; i < 2000 && !shared->complaints; i++)
			pause_ms(5);
		return;
	}
	gpusim_meeting_arrive(meeting);
	gpusim_meetings_wait();
	EXPECT(shared->complaints == 1);
	gpusim_meeting_arrive(meeting);
	gpusim_meetings_wait(); /* at once */
	EXPECT(shared->complaints == 1);
}

static void patience_of_a_question_ends(int rank, int size)
{
	struct gpusim_meeting *meeting = join(rank, size);
	struct gpusim_collective collective = {0};
	int questions = 0;

	for (int i = 0; rank == 1 && i < 2000 && !shared->complaints; i++)
		pause_ms(5);
	if (rank == 1)
		return;
	EXPECT(gpusim_collective_done(collective));
	gpusim_meeting_wait(meeting);
	collective = gpusim_meeting_arrive(meeting);
	for (; questions < 2000 && !gpusim_collective_done(collective); questions++)
		pause_ms(5);
	EXPECT(questions > 10 && questions < 2000);
	EXPECT(shared->complaints == 1);
}

static void parts_know_their_size(int rank, int size)
{
	static const int colours[] = {7, 0, 7, NO_COLOUR, 7};
	static const int keys[] = {2, 0, 1, 0, 1};
	static const int sizes[] = {3, 1, 3, 1, 3};
	static const int ranks[] = {2, 0, 0, 0, 1};
	struct gpusim_meeting *meeting = join(rank, size);
	struct gpusim_part part = {0}, again = {0};
	struct gpusim_meeting *inner;

	EXPECT(gpusim_meeting_split(meeting, colours[rank], keys[rank], &part));
	EXPECT(part.size == sizes[rank]);
	EXPECT(part.rank == ranks[rank]);
	EXPECT(gpusim_meeting_split(meeting, 0, size - rank, &again));
	EXPECT(again.size == size && again.rank == size - 1 - rank);
	EXPECT(memcmp(part.id, again.id, sizeof(part.id)) != 0);
	inner = gpusim_meeting_join(part.id, part.size, part.rank);
	gpusim_meeting_wait(inner);
	gpusim_meeting_arrive(inner);
	gpusim_meetings_wait();
	gpusim_meeting_leave(inner);
	gpusim_meeting_leave(meeting);
	EXPECT(shared->complaints == 0);
}

int main(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	gpusim_meeting_wait(NULL);
	gpusim_meeting_arrive(NULL);
	gpusim_meeting_leave(NULL);
	gpusim_meetings_wait();
	as_ranks(3, nobody_is_early);
	as_ranks(3, all_come_to_each_collective);
	as_ranks(2, who_is_behind_waits_for_nobody);
	as_ranks(2, the_dead_are_not_waited_for);
	as_ranks(2, patience_ends);
	as_ranks(2, patience_of_a_question_ends);
	as_ranks(5, parts_know_their_size);
	return test_result();
}
