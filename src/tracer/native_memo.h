/*
 * The native stacks that a thread met lately, so that one that comes again is compared
 * instead of walked: loads at addresses known beforehand, none of which waits for another.
 *
 * Comparing is as exact as walking.  A walk is decided by the words it reads, and where
 * all of these are what they were, it would go the same way.  They are compared in the order
 * of the walk, up to the first that differs: nothing is read that a walk wouldn't read.
 *
 * When a library goes, all is forgotten.
 *
 * Threads: each has its own.
 */
#ifndef GPULEAK_TRACER_NATIVE_MEMO_H
#define GPULEAK_TRACER_NATIVE_MEMO_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/native_walk.h"

enum {
	NATIVE_MEMO_CHAINS = 64,  /* a power of two */
	NATIVE_MEMO_WORDS = 8192, /* some 150 stacks of 35 frames; then it begins anew */
};

/* All zero: nothing is known. */
struct native_memo {
	uint16_t chains[NATIVE_MEMO_CHAINS]; /* the newest stack by where it begins, from 1 */
	uint32_t used;			     /* words */
	uint32_t last;			     /* the stack found or kept latest, from 1 */
	unsigned long long unloads;	     /* of native_loader.h: when it began */
	uint64_t words[NATIVE_MEMO_WORDS];
};

/* The `hash` that was kept for the stack outwards from `frame`; false when it is another one. */
bool native_memo_find(struct native_memo *memo, const uintptr_t *frame, uint64_t *hash);

/* Remember a walk that began at `frame`. */
void native_memo_keep(struct native_memo *memo, const uintptr_t *frame,
		      const struct native_reads *reads, uint64_t hash);

#endif
