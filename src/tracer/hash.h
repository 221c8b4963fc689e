/*
 * Hashing of what makes a site: not for untrusted input, but well mixed.
 */
#ifndef GPULEAK_TRACER_HASH_H
#define GPULEAK_TRACER_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The finalizer of splitmix64: each input bit changes about half of the output's. */
static inline uint64_t hash_mix(uint64_t hash, uint64_t value)
{
	hash = hash * 0x9e3779b97f4a7c15ull + value + 0x9e3779b97f4a7c15ull;
	hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9ull;
	hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebull;
	return hash ^ (hash >> 31);
}

static inline uint64_t hash_bytes(const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	uint64_t hash = size;
	uint64_t word;

	for (; size >= sizeof(word); size -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = hash_mix(hash, word);
	}
	word = 0;
	memcpy(&word, at, size);
	return hash_mix(hash, word);
}

#endif
