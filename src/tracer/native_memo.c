#include "tracer/native_memo.h"

#include <stddef.h>
#include <string.h>

#include "tracer/hot.h"
#include "tracer/native_loader.h"

#include "tracer/banned.h"

enum {
	TRIES = 8, /* stacks that begin at the same place and were not the right one */
	WORDS = 4, /* compared in a row: a stack has a multiple of so many, the last one repeated */
};

/* Within the memo's words; `at` and, behind it, `count` words follow. */
struct known {
	const uintptr_t *frame;
	uint64_t hash;
	uint16_t count;
	uint16_t older; /* of the same chain, from 1; 0: none */
	uint16_t after; /* the one that came after it last time, from 1; 0: none */
	uint16_t at[];	/* where each word lies, in words from `frame` */
};

/* Numbers are places in units of words, from 1. */
static struct known *known_of(struct native_memo *memo, uint32_t number)
{
	return (struct known *)&memo->words[number - 1];
}

static size_t header_words(unsigned count)
{
	return (offsetof(struct known, at) + count * sizeof(uint16_t) + sizeof(uint64_t) - 1) /
	       sizeof(uint64_t);
}

static uint64_t *values_of(struct known *known)
{
	return (uint64_t *)known + header_words(known->count);
}

static uint16_t *chain_of(struct native_memo *memo, const uintptr_t *frame)
{
	uint64_t mixed = (uintptr_t)frame * 0x9e3779b97f4a7c15ull;

	return &memo->chains[mixed >> 32 & (NATIVE_MEMO_CHAINS - 1)];
}

static inline bool differs(const uintptr_t *frame, uint16_t at, uint64_t value)
{
	return __builtin_expect(frame[at] != value, 0);
}

HOT_CODE static bool is_same(struct known *known, const uintptr_t *frame)
{
	const uint64_t *values = values_of(known);
	const uint16_t *at = known->at, *end = at + known->count;

	if (known->frame != frame)
		return false;
	for (; at != end; at += WORDS, values += WORDS)
		if (differs(frame, at[0], values[0]) || differs(frame, at[1], values[1]) ||
		    differs(frame, at[2], values[2]) || differs(frame, at[3], values[3]))
			return false;
	return true;
}

/* The number of the stack, or 0. */
HOT_CODE static uint32_t find(struct native_memo *memo, const uintptr_t *frame)
{
	uint32_t likely = memo->last ? known_of(memo, memo->last)->after : 0;
	uint32_t number;

	if (likely && is_same(known_of(memo, likely), frame))
		return likely;
	number = *chain_of(memo, frame);
	for (unsigned i = 0; number && i < TRIES; i++) {
		struct known *known = known_of(memo, number);

		if (number != likely && is_same(known, frame))
			break;
		number = i + 1 < TRIES ? known->older : 0;
	}
	return number;
}

static void set_last(struct native_memo *memo, uint32_t number)
{
	if (memo->last)
		known_of(memo, memo->last)->after = (uint16_t)number;
	memo->last = number;
}

__attribute__((cold, noinline)) static void begin_anew(struct native_memo *memo,
						       unsigned long long unloads)
{
	memset(memo->chains, 0, sizeof(memo->chains));
	memo->used = memo->last = 0;
	memo->unloads = unloads;
}

HOT_CODE bool native_memo_find(struct native_memo *memo, const uintptr_t *frame, uint64_t *hash)
{
	unsigned long long unloads = native_loader_unloads();
	uint32_t number;

	if (memo->unloads != unloads)
		begin_anew(memo, unloads);
	number = find(memo, frame);
	if (!number)
		return false;
	*hash = known_of(memo, number)->hash;
	set_last(memo, number);
	return true;
}

void native_memo_keep(struct native_memo *memo, const uintptr_t *frame,
		      const struct native_reads *reads, uint64_t hash)
{
	unsigned count = (reads->count + WORDS - 1) / WORDS * WORDS;
	size_t size = header_words(count) + count;
	uint16_t *chain = chain_of(memo, frame);
	struct known *known;
	uint64_t *values;

	for (unsigned i = 0; i < reads->count; i++)
		if ((uintptr_t)(reads->at[i] - frame) > UINT16_MAX)
			return;
	if (memo->used + size > NATIVE_MEMO_WORDS)
		begin_anew(memo, memo->unloads);
	known = known_of(memo, memo->used + 1);
	*known = (struct known){
		.frame = frame, .hash = hash, .count = (uint16_t)count, .older = *chain};
	values = values_of(known);
	for (unsigned i = 0; i < count; i++) {
		const uintptr_t *word = reads->at[i < reads->count ? i : reads->count - 1];

		known->at[i] = (uint16_t)(word - frame);
		values[i] = *word;
	}
	*chain = (uint16_t)(memo->used + 1);
	set_last(memo, memo->used + 1);
	memo->used += (uint32_t)size;
}
