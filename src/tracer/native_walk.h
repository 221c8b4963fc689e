/*
 * A fast walk over native frames.  For each return address a rule is remembered that
 * leads to its caller; each thread keeps the trail of its last walk, and where the
 * stack comes to a frame of that trail, the rest is compared with it instead of found
 * anew: loads that need not wait for each other.
 *
 * Comparing is as exact as walking.  A rule makes the caller's registers of the
 * frame's own and of words of the stack: where those are equal, so are these.
 */
#ifndef GPULEAK_TRACER_NATIVE_WALK_H
#define GPULEAK_TRACER_NATIVE_WALK_H

#include <stdbool.h>
#include <stdint.h>

/* The most return addresses of one walk. */
enum {
	NATIVE_STACK_MAX = 128,
	NATIVE_STEPS = 12288 /* return addresses that rules are remembered for */
};

/* Registers of the function whose callers are asked for. */
struct native_registers {
	uintptr_t pc; /* where it will return to */
	uintptr_t sp; /* its caller's, at the call */
	uintptr_t bp; /* its caller's */
};

/* A function on the stack, as it is while it waits for the one that it called. */
struct native_trail_frame {
	struct native_registers at;
	uintptr_t bp_slot; /* where it saved its caller's bp; 0: `at.bp` is the caller's, too */
	uint64_t sum;	   /* of its return address and all further out */
	uint32_t step;	   /* the walk's own number for at.pc */
	bool needs_bp;	   /* the way out from here depends on at.bp */
};

/* One thread's last walk.  All zero is a trail of nothing. */
struct native_trail {
	unsigned count;
	bool whole;		    /* up to the thread's first function, by rules that we know */
	unsigned long long unloads; /* of native_loader.h, when it was walked */
	struct native_trail_frame frames[NATIVE_STACK_MAX]; /* outermost first */
	uint16_t callers[NATIVE_STEPS]; /* for each address the one of its caller's seen last, from
					   1 */
};

/* The i-th return address from the innermost; i below `count`. */
static inline const void *native_trail_address(const struct native_trail *trail, unsigned i)
{
	return (const void *)trail->frames[trail->count - 1 - i].at.pc;
}

/* Of the return addresses but for the innermost `skip`, in their order. */
uint64_t native_trail_hash(const struct native_trail *trail, unsigned skip);

/*
 * The stack of the calling thread, from `from.pc` outwards; a deeper one without its
 * outermost frames.  False when a frame is not understood: then somebody else must
 * walk.  `trail` is this thread's.  No lock, no heap after the first call; an address
 * not read before is looked at without faulting.
 */
bool native_walk(struct native_registers from, struct native_trail *trail);

/* A trail of somebody else's walk: `addresses`, innermost first. */
void native_trail_set(struct native_trail *trail, void *const *addresses, unsigned count);

#endif
