/*
 * Which device's turns are steps.  Each device looks for the turns of its own loop (turns.c), but
 * a mark is of the whole process: so one device leads, and the turns of the others count
 * nothing.  Another one takes over when the stack that its turns begin with is of a better kind,
 * or when the leading one has fallen silent.
 *
 * Threads: any; no lock and no heap.  All that devices share is one cache line, which is written
 * once in a turn of the leading one and read once in a turn of each other.
 */
#ifndef GPULEAK_TRACER_TURNS_LEADING_H
#define GPULEAK_TRACER_TURNS_LEADING_H

#include <stdbool.h>
#include <stdint.h>

enum {
	TURNS_RECUR = 3,  /* times that a stack comes before it can lead */
	TURNS_RATIO = 64, /* what came so much more often is of another kind */

	/* Silent is what didn't come in so many of its longest gaps ... */
	TURNS_SILENT_GAPS = 4,
	TURNS_SILENT_LEAST = 64, /* ... and allocations. */
};

/* Of the stack that a turn begins with, by preference. */
enum turns_class {
	CLASS_LOOP = 0,	    /* Python, outside of every module */
	CLASS_MODULE = 1,   /* within a call of a torch.nn.Module */
	CLASS_NATIVE = 2,   /* a thread without Python frames */
	CLASS_BUILDING = 3, /* never leads */
};

/* A device's turn, as it begins. */
struct turns_own {
	uint32_t device;
	enum turns_class class;
	uint32_t count; /* turns that began with that stack */
	bool regular;
	uint64_t now; /* allocations on that device */
	uint64_t gap; /* the most in one of its turns */
};

/* What a device knows of the leading one.  The caller's lock guards it; zeroed at first. */
struct turns_heard {
	uint64_t now;	/* allocations on this device, when it was heard last; 0: never */
	uint64_t gap;	/* the most between */
	uint32_t turns; /* of leading devices, then */
	uint32_t count; /* the device's own turns, then */
};

struct turns_answer {
	bool leads; /* the turn is a step; else nothing below is set */
	bool taken; /* the device hasn't led before it */
	bool anew;  /* if its stack hasn't, either: what was counted before was no turn of this loop
		     */
	uint32_t uncounted; /* own turns since the one that led before was heard, with this one */
};

void turns_leading_ask(const struct turns_own *own, struct turns_heard *heard,
		       struct turns_answer *answer);

/* The program has left the loop of that device.  If it leads, the next loop's turns count on. */
void turns_leading_ends_phase(uint32_t device);

/* No device has led yet. */
bool turns_leading_nobody(void);

/* In a child after fork. */
void turns_leading_forget(void);

#endif
