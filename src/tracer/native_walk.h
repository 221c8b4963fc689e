/*
 * A fast walk over native frames: for each return address a rule is remembered that
 * leads to its caller, and which caller that was the last time, so that the next
 * step does not wait for the load of the return address.
 */
#ifndef GPULEAK_TRACER_NATIVE_WALK_H
#define GPULEAK_TRACER_NATIVE_WALK_H

#include <stdbool.h>
#include <stdint.h>

/* Registers of the function whose callers are asked for. */
struct native_registers {
	uintptr_t pc; /* where it will return to */
	uintptr_t sp; /* its caller's, at the call */
	uintptr_t bp; /* its caller's */
};

/*
 * The return addresses from `from.pc` outwards, at most `max`, of the calling thread.
 * 0 when a frame is not understood: then somebody else must walk.  No lock, no heap
 * after the first call; an address not read before is looked at without faulting.
 */
unsigned native_walk(struct native_registers from, const void **addresses, unsigned max);

#endif
