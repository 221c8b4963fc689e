/*
 * How to get from a function's registers to its caller's, as the compiler wrote it
 * down for exceptions: the call frame information of DWARF 4 section 6.4, in the
 * form of .eh_frame (Linux Standard Base Core 5.0, 10.6).
 *
 * Only what compilers make of ordinary functions is understood; all else is left
 * to libunwind.  x86-64 only.
 */
#ifndef GPULEAK_TRACER_NATIVE_CFI_H
#define GPULEAK_TRACER_NATIVE_CFI_H

#include <stdbool.h>
#include <stdint.h>

enum native_rule_kind {
	NATIVE_RULE_NONE = 0, /* not understood */
	NATIVE_RULE_SP = 1,   /* the caller's frame begins at rsp + cfa */
	NATIVE_RULE_BP = 2,   /* ... at rbp + cfa */
	NATIVE_RULE_END = 3,  /* there is no caller */
};

struct native_rule {
	enum native_rule_kind kind;
	int32_t cfa;   /* bytes */
	int32_t bp;    /* the caller's rbp lies this far from the frame's begin, if `bp_saved` */
	bool bp_saved; /* else rbp is the caller's already */
};

/*
 * The rule at a return address.  Kind NONE when there is none.  Asks the loader for
 * its list of objects, as dl_iterate_phdr does; no heap, no errno.
 */
struct native_rule native_cfi_rule(uintptr_t return_address);

#endif
