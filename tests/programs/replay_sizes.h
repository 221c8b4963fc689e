/* The sizes of the blocks that live, by address: what the list's frees leave out. */
#ifndef GPULEAK_TESTS_REPLAY_SIZES_H
#define GPULEAK_TESTS_REPLAY_SIZES_H

#include <stdint.h>

/* `address` holds `size` bytes from now on. */
void sizes_put(uint64_t address, uint64_t size);

/* What it held, which it no longer does; 0: nothing. */
uint64_t sizes_take(uint64_t address);

#endif
