#include "site_stack.h"

struct site_leaf {
	void (*perform)(void *data);
	void *data;
};

typedef void site_function(uint32_t rest, const struct site_leaf *leaf);

static site_function *const functions[16];

/* Not a tail call: the frame of the caller must stay. */
static inline void descend(uint32_t rest, const struct site_leaf *leaf)
{
	if (rest)
		functions[rest & 15](rest >> 4, leaf);
	else
		leaf->perform(leaf->data);
	__asm__ volatile("");
}

#define SITE_FUNCTION(digit)                                                            \
	__attribute__((noinline, visibility("default"))) void site_##digit(             \
		uint32_t rest, const struct site_leaf *leaf);                           \
	void site_##digit(uint32_t rest, const struct site_leaf *leaf)                  \
	{                                                                               \
		descend(rest, leaf);                                                    \
		__asm__ volatile("" ::"i"(0x##digit)); /* no two alike, to be folded */ \
	}

SITE_FUNCTION(0)
SITE_FUNCTION(1)
SITE_FUNCTION(2)
SITE_FUNCTION(3)
SITE_FUNCTION(4)
SITE_FUNCTION(5)
SITE_FUNCTION(6)
SITE_FUNCTION(7)
SITE_FUNCTION(8)
SITE_FUNCTION(9)
SITE_FUNCTION(a)
SITE_FUNCTION(b)
SITE_FUNCTION(c)
SITE_FUNCTION(d)
SITE_FUNCTION(e)
SITE_FUNCTION(f)

static site_function *const functions[16] = {
	site_0, site_1, site_2, site_3, site_4, site_5, site_6, site_7,
	site_8, site_9, site_a, site_b, site_c, site_d, site_e, site_f,
};

void site_call(uint32_t site, void (*perform)(void *data), void *data)
{
	const struct site_leaf leaf = {perform, data};

	functions[site & 15](site >> 4, &leaf);
	__asm__ volatile("");
}
