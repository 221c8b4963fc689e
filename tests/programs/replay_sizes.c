#include "replay_sizes.h"

#include <stdio.h>
#include <stdlib.h>

/* Open addressing with tombstones (size 0), rebuilt when three quarters are in use. */
static struct entry {
	uint64_t address; /* 0: never used */
	uint64_t size;
} * entries;
static uint64_t capacity, used;

static struct entry *find(struct entry *in, uint64_t slots, uint64_t address)
{
	uint64_t i = (address >> 8) * 0x9e3779b97f4a7c15ull >> 20;

	for (i &= slots - 1; in[i].address && in[i].address != address; i = (i + 1) & (slots - 1))
		;
	return &in[i];
}

static void rebuild(void)
{
	uint64_t live = 0, slots = 1024;
	struct entry *fresh;

	for (uint64_t i = 0; i < capacity; i++)
		live += entries[i].size != 0;
	while (slots < 4 * live)
		slots *= 2;
	fresh = calloc(slots, sizeof(*fresh));
	if (!fresh) {
		perror("replay");
		exit(2);
	}
	for (uint64_t i = 0; i < capacity; i++)
		if (entries[i].size)
			*find(fresh, slots, entries[i].address) = entries[i];
	free(entries);
	entries = fresh;
	capacity = slots;
	used = live;
}

void sizes_put(uint64_t address, uint64_t size)
{
	struct entry *entry;

	if (4 * used >= 3 * capacity)
		rebuild();
	entry = find(entries, capacity, address);
	used += entry->address == 0;
	entry->address = address;
	entry->size = size;
}

uint64_t sizes_take(uint64_t address)
{
	struct entry *entry;
	uint64_t size;

	if (!capacity)
		return 0;
	entry = find(entries, capacity, address);
	size = entry->size;
	entry->size = 0;
	return size;
}
