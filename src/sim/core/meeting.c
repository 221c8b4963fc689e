#include "sim/core/meeting.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "sim/core/notice.h"

#ifndef PATIENCE_S
#define PATIENCE_S 60 /* then a rank is not waited for any more */
#endif

enum {
	PARTS = 2,	    /* of a split and the next one: the last but one is read by nobody */
	LOOK_US = 100,	    /* between two looks at the others */
	LOOKS_A_LIFE = 100, /* looks between two questions whether the others live */
	LONGEST = 64
};

/* One rank, in shared memory.  Written by that rank alone. */
struct place {
	_Atomic pid_t process; /* 0: hasn't joined */
	_Atomic bool left;
	_Atomic uint64_t collectives; /* called so far */
	_Atomic uint64_t splits;
	struct {
		int colour, key;
	} parts[PARTS]; /* valid for the splits numbered `splits` and the one before */
};

struct gpusim_meeting {
	struct gpusim_meeting *next;
	uint64_t number;	   /* unlike that of any other in this process */
	_Atomic uint64_t asked_ms; /* since when somebody asks for a collective in vain; 0: not */
	struct place *places;	   /* shared, `size` of them */
	int size, rank;
	unsigned users;	   /* threads that wait in it, and its owner; under the lock */
	_Atomic bool over; /* nobody waits any more */
	uint8_t id[GPUSIM_MEETING_ID];
	char name[LONGEST]; /* of the shared memory; "" once it has no name any more */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list */
static struct gpusim_meeting *meetings;
static uint64_t numbers;		     /* given so far */
static _Atomic(struct gpusim_meeting *) any; /* the list's head, to be looked at without the lock */

static struct place *share(const char *name, size_t size)
{
	int fd = shm_open(name, O_RDWR | O_CREAT, 0600);
	void *memory = MAP_FAILED;

	if (fd < 0)
		return NULL;
	if (ftruncate(fd, (off_t)size) == 0)
		memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return memory == MAP_FAILED ? NULL : memory;
}

static void name_of(const uint8_t *id, char *name)
{
	int length = snprintf(name, LONGEST, "/gpuleak-sim-");

	for (int i = 0; i < GPUSIM_MEETING_ID; i++)
		length += snprintf(name + length, LONGEST - (size_t)length, "%02x", id[i]);
}

/* Those who have joined have the memory mapped, so when all have it needs no name. */
static void forget_name(struct gpusim_meeting *meeting)
{
	pthread_mutex_lock(&lock);
	if (meeting->name[0])
		shm_unlink(meeting->name);
	meeting->name[0] = 0;
	pthread_mutex_unlock(&lock);
}

static void release(struct gpusim_meeting *meeting)
{
	bool last;

	pthread_mutex_lock(&lock);
	last = --meeting->users == 0;
	pthread_mutex_unlock(&lock);
	if (!last)
		return;
	munmap(meeting->places, (size_t)meeting->size * sizeof(struct place));
	free(meeting);
}

struct gpusim_meeting *gpusim_meeting_join(const void *id, int size, int rank)
{
	struct gpusim_meeting *meeting = calloc(1, sizeof(*meeting));
	int saved = errno;

	if (!meeting)
		return NULL;
	meeting->size = size;
	meeting->rank = rank;
	meeting->users = 1;
	memcpy(meeting->id, id, sizeof(meeting->id));
	name_of(meeting->id, meeting->name);
	meeting->places = share(meeting->name, (size_t)size * sizeof(struct place));
	errno = saved;
	if (!meeting->places) {
		free(meeting);
		return NULL;
	}
	meeting->places[rank].process = getpid();
	pthread_mutex_lock(&lock);
	meeting->number = ++numbers;
	meeting->next = meetings;
	meetings = meeting;
	any = meeting;
	pthread_mutex_unlock(&lock);
	return meeting;
}

/* The end of the process.  Not that of a child which inherited the meetings. */
__attribute__((destructor)) static void leave_all(void)
{
	for (struct gpusim_meeting *meeting = meetings; meeting; meeting = meeting->next) {
		struct place *own = &meeting->places[meeting->rank];

		if (own->process != getpid())
			continue;
		own->left = true;
		if (meeting->name[0])
			shm_unlink(meeting->name);
	}
}

/* What a rank is waited for. */
enum step {
	STEP_JOIN,
	STEP_COLLECTIVE,
	STEP_SPLIT
};

static bool has_come(const struct gpusim_meeting *meeting, int rank, enum step step,
		     uint64_t number)
{
	const struct place *other = &meeting->places[rank];

	if (other->left)
		return true;
	switch (step) {
	case STEP_JOIN:
		return other->process != 0;
	case STEP_COLLECTIVE:
		return other->collectives >= number;
	case STEP_SPLIT:
		return other->splits >= number;
	}
	return true;
}

static bool lives(const struct gpusim_meeting *meeting, int rank)
{
	pid_t process = meeting->places[rank].process;

	return process == 0 || kill(process, 0) == 0 || errno != ESRCH;
}

/* The first rank that is missing where this one is; -1: all are there. */
static int missing(const struct gpusim_meeting *meeting, enum step step, uint64_t number)
{
	for (int rank = 0; rank < meeting->size; rank++)
		if (!has_come(meeting, rank, step, number))
			return rank;
	return -1;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Give up when the rank that is missing is dead, or has been missing until `end`. */
static void judge(struct gpusim_meeting *meeting, int rank, bool late)
{
	if (late)
		gpusim_waited(meeting->rank, rank, PATIENCE_S);
	if (late || !lives(meeting, rank))
		meeting->over = true;
}

/* False when they don't all come; the meeting is over then. */
static bool wait_for(struct gpusim_meeting *meeting, enum step step, uint64_t number)
{
	const struct timespec pause = {.tv_nsec = LOOK_US * 1000L};
	uint64_t end = now_ms() + PATIENCE_S * 1000UL;
	int saved = errno;
	int rank;

	for (int look = 1; !meeting->over && (rank = missing(meeting, step, number)) >= 0; look++) {
		nanosleep(&pause, NULL);
		if (look % LOOKS_A_LIFE == 0 && missing(meeting, step, number) == rank)
			judge(meeting, rank, now_ms() >= end);
	}
	errno = saved;
	return !meeting->over;
}

void gpusim_meeting_wait(struct gpusim_meeting *meeting)
{
	if (meeting && wait_for(meeting, STEP_JOIN, 0))
		forget_name(meeting);
}

static uint64_t called(const struct gpusim_meeting *meeting)
{
	return meeting->places[meeting->rank].collectives;
}

struct gpusim_collective gpusim_meeting_arrive(struct gpusim_meeting *meeting)
{
	struct gpusim_collective collective = {0, 0};

	if (meeting) {
		collective.meeting = meeting->number;
		collective.number = ++meeting->places[meeting->rank].collectives;
	}
	return collective;
}

/* Under the lock. */
static bool is_done(struct gpusim_meeting *meeting, uint64_t number)
{
	int rank = meeting->over ? -1 : missing(meeting, STEP_COLLECTIVE, number);

	if (rank < 0) {
		meeting->asked_ms = 0;
		return true;
	}
	if (!meeting->asked_ms)
		meeting->asked_ms = now_ms();
	judge(meeting, rank, now_ms() - meeting->asked_ms >= PATIENCE_S * 1000UL);
	return meeting->over;
}

bool gpusim_collective_done(struct gpusim_collective collective)
{
	bool done = true;
	int saved = errno;

	if (!collective.meeting)
		return true;
	pthread_mutex_lock(&lock);
	for (struct gpusim_meeting *meeting = meetings; meeting; meeting = meeting->next)
		if (meeting->number == collective.meeting)
			done = is_done(meeting, collective.number);
	pthread_mutex_unlock(&lock);
	errno = saved;
	return done;
}

void gpusim_meeting_leave(struct gpusim_meeting *meeting)
{
	if (!meeting)
		return;
	meeting->over = true;
	meeting->places[meeting->rank].left = true;
	forget_name(meeting);
	pthread_mutex_lock(&lock);
	for (struct gpusim_meeting **link = &meetings; *link; link = &(*link)->next) {
		if (*link != meeting)
			continue;
		*link = meeting->next;
		break;
	}
	any = meetings;
	pthread_mutex_unlock(&lock);
	release(meeting);
}

/* A meeting in which somebody is missing, kept until release(); NULL: there is none. */
static struct gpusim_meeting *unfinished(void)
{
	struct gpusim_meeting *meeting;

	pthread_mutex_lock(&lock);
	for (meeting = meetings; meeting; meeting = meeting->next)
		if (!meeting->over && missing(meeting, STEP_COLLECTIVE, called(meeting)) >= 0)
			break;
	if (meeting)
		meeting->users++;
	pthread_mutex_unlock(&lock);
	return meeting;
}

void gpusim_meetings_wait(void)
{
	struct gpusim_meeting *meeting;

	while (any && (meeting = unfinished())) {
		wait_for(meeting, STEP_COLLECTIVE, called(meeting));
		release(meeting);
	}
}

bool gpusim_meeting_split(struct gpusim_meeting *meeting, int colour, int key,
			  struct gpusim_part *part)
{
	struct place *own;
	uint64_t number;

	if (!meeting)
		return false;
	own = &meeting->places[meeting->rank];
	number = own->splits + 1;
	own->parts[number % PARTS].colour = colour;
	own->parts[number % PARTS].key = key;
	own->splits = number; /* publishes the two */
	if (!wait_for(meeting, STEP_SPLIT, number))
		return false;
	*part = (struct gpusim_part){0};
	for (int rank = 0; rank < meeting->size; rank++) {
		const struct place *other = &meeting->places[rank];
		int other_key = other->parts[number % PARTS].key;

		if (other->parts[number % PARTS].colour != colour)
			continue;
		part->size++;
		if (other_key < key || (other_key == key && rank < meeting->rank))
			part->rank++;
	}
	memcpy(part->id, meeting->id, sizeof(part->id));
	for (int i = 0; i < 4; i++) {
		part->id[i] ^= (uint8_t)((uint32_t)colour >> 8 * i);
		part->id[i + 4] ^= (uint8_t)(number >> 8 * i);
	}
	part->id[8] ^= 0x80; /* colour 0, split 0: never the meeting itself */
	return true;
}
