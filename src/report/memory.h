/*
 * Memory that is there, or the program has ended: a report half made for want of
 * memory would be worse than none.
 */
#ifndef GPULEAK_REPORT_MEMORY_H
#define GPULEAK_REPORT_MEMORY_H

#include <stddef.h>

/* `count` zeroed items, owned by the caller: free().  Never NULL, also for none. */
void *memory_new(size_t count, size_t item_size);

/* `old` made larger, to hold `count` items; what is new is not zeroed.  Never NULL. */
void *memory_grow(void *old, size_t count, size_t item_size);

/* Say that memory is out, and end the program with the code of "no report". */
_Noreturn void memory_ended(void);

#endif
