/*
 * Native stacks: return addresses of the calling thread, and what they lie in.
 *
 * Walking is our own by call frame information, and libunwind's where that isn't
 * enough; naming reads the loaded objects themselves and asks
 * nothing of the loader but dl_iterate_phdr(), whose lock nobody holds for long.
 * So all of this but native_stack_open() may run under the target's locks.
 */
#ifndef GPULEAK_TRACER_NATIVE_STACK_H
#define GPULEAK_TRACER_NATIVE_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/native_memo.h"
#include "tracer/native_walk.h"

/* Where in which file an address lies. */
struct native_frame {
	char module[1024]; /* path, as the loader knows it; cut when longer */
	uint64_t offset;   /* the address in the file's own terms, as addr2line takes it */
	uint8_t build_id[20];
	uint32_t build_id_size; /* bytes; 0: none */
};

/*
 * Load libunwind, out of everybody else's sight, for the frames that our own walk
 * does not understand.  False where there is neither (x86-64 always has its own): no
 * native stacks then, for the reason that native_stack_why() gives.  In the
 * constructor only: takes the loader's lock.
 */
bool native_stack_open(void);

/* Static text; NULL when native stacks work. */
const char *native_stack_why(void);

/*
 * The calling thread's return addresses outwards from a function that hasn't returned,
 * beginning with where it will return to; `frame` is its __builtin_frame_address(0).  None
 * where nothing understands the stack.  A thread's first call takes memory; errno stays.
 * Not for signal handlers.
 */
void native_stack_walk(const uintptr_t *frame, struct native_stack *stack);

/* Their hash only, and faster: `memo` is the thread's own. */
uint64_t native_stack_recognise(const uintptr_t *frame, struct native_memo *memo);

/*
 * Say which loaded object a return address belongs to; false when none does.
 * The byte before it counts: a call may be the last thing in a function.
 */
bool native_frame_resolve(const void *address, struct native_frame *frame);

/*
 * The function that a return address belongs to, from its object's dynamic
 * symbols: its raw name, cut to `size`, and how far into it the address is.
 * False when none covers it; static functions never have one.
 */
bool native_symbol(const void *address, char *name, size_t size, uint64_t *symbol_offset);

/*
 * The address of `symbol` in the first loaded object that exports it and whose
 * file name begins with `prefix`; NULL when there is none.
 */
void *native_find_export(const char *prefix, const char *symbol);

#endif
