/* The tables of all parts. */
#include "parts.h"

#define P(kind, name, function, least) {name, kind##_##function, least},

#define PARTS_LEAK
const struct part leak_parts[] = {
#include "parts.def"
	{0},
};
#undef PARTS_LEAK

#define PARTS_BOUNDED
const struct part bounded_parts[] = {
#include "parts.def"
	{0},
};
#undef PARTS_BOUNDED

#define PARTS_UNCLEAR
const struct part unclear_parts[] = {
#include "parts.def"
	{0},
};
#undef PARTS_UNCLEAR

#define PARTS_ALONE
const struct part alone_parts[] = {
#include "parts.def"
	{0},
};
#undef PARTS_ALONE
