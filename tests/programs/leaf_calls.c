#include "leaf_calls.h"

#include "fake.h"

/* clang-format off */

/* Each hands over from a function of its own, which a report names. */
#define LEAF(high, low)                                                                     \
	__attribute__((noinline, visibility("default"))) void leaf_##high##low(             \
		int device, uint64_t address, uint64_t size);                               \
	void leaf_##high##low(int device, uint64_t address, uint64_t size)                  \
	{                                                                                   \
		fake_alloc_at(device, address, size);                                       \
		__asm__ volatile("" ::"i"(0x##high##low)); /* no two alike, to be folded */ \
	}
#define NAME(high, low) leaf_##high##low,
#define SIXTEEN(each, high)                                                                 \
	each(high, 0) each(high, 1) each(high, 2) each(high, 3) each(high, 4) each(high, 5) \
	each(high, 6) each(high, 7) each(high, 8) each(high, 9) each(high, a) each(high, b) \
	each(high, c) each(high, d) each(high, e) each(high, f)
#define ALL(each)                                                                           \
	SIXTEEN(each, 0) SIXTEEN(each, 1) SIXTEEN(each, 2) SIXTEEN(each, 3)                 \
	SIXTEEN(each, 4) SIXTEEN(each, 5) SIXTEEN(each, 6) SIXTEEN(each, 7)                 \
	SIXTEEN(each, 8) SIXTEEN(each, 9) SIXTEEN(each, a) SIXTEEN(each, b)                 \
	SIXTEEN(each, c) SIXTEEN(each, d) SIXTEEN(each, e) SIXTEEN(each, f)

ALL(LEAF)

static void (*const leaves[256])(int, uint64_t, uint64_t) = {ALL(NAME)};

/* clang-format on */

void leaf_alloc(uint32_t site, int device, uint64_t address, uint64_t size)
{
	leaves[site & 0xff](device, address, size);
	__asm__ volatile("");
}
