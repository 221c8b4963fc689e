#include "sim/core/shadow.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "sim/core/config.h"
#include "sim/core/lock.h"

enum {
	ENTRY_BYTES = 64 << 10, /* a longer write is not remembered */
	FILL_BYTES = 4 << 10,	/* nor a longer memset */
	ALL_BYTES = 16 << 20,	/* of all entries together */
	ENTRIES = 8192,
	AGE = 256, /* kernels */
};

/* One remembered write.  Entries don't overlap. */
struct entry {
	uint64_t address;
	uint64_t born; /* kernels launched before it */
	uint32_t size;
	uint8_t bytes[];
};

/* Sorted by address.  Guarded by the core's lock; the count is read without, to skip the work. */
static struct entry *entries[ENTRIES];
static atomic_uint entry_count;
static size_t entry_bytes;
static atomic_ullong kernels; /* launched so far */
static uint64_t next_sweep;   /* count of kernels at which the old ones are looked for */

/* The first entry that ends after `address`. */
static unsigned entry_after(uint64_t address)
{
	unsigned low = 0, high = entry_count;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (entries[middle]->address + entries[middle]->size <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Remove entries `first` up to `last`, the latter excluded. */
static void remove_entries(unsigned first, unsigned last)
{
	unsigned count = entry_count;

	if (first == last)
		return;
	for (unsigned i = first; i < last; i++) {
		entry_bytes -= entries[i]->size;
		free(entries[i]);
	}
	memmove(&entries[first], &entries[last], (count - last) * sizeof(entries[0]));
	entry_count = count - (last - first);
}

void gpusim_shadow_drop(uint64_t address, uint64_t size)
{
	unsigned first, last;

	if (entry_count == 0 || size == 0)
		return;
	first = entry_after(address);
	for (last = first; last < entry_count; last++)
		if (entries[last]->address >= address + size)
			break;
	remove_entries(first, last);
}

/* Drop the older half, by age. */
static void make_room(void)
{
	uint64_t oldest = UINT64_MAX, limit;

	for (unsigned i = 0; i < entry_count; i++)
		if (entries[i]->born < oldest)
			oldest = entries[i]->born;
	limit = oldest + (kernels - oldest) / 2;
	for (unsigned i = entry_count; i-- > 0;)
		if (entries[i]->born <= limit)
			remove_entries(i, i + 1);
}

static void drop_old(void)
{
	for (unsigned i = entry_count; i-- > 0;)
		if (kernels - entries[i]->born > AGE)
			remove_entries(i, i + 1);
}

/* An entry for the caller to fill and insert; NULL: it won't be remembered. */
static struct entry *new_entry(uint64_t address, size_t size)
{
	struct entry *entry;

	if (size == 0 || size > ENTRY_BYTES)
		return NULL;
	entry = malloc(sizeof(*entry) + size);
	if (entry)
		*entry =
			(struct entry){.address = address, .born = kernels, .size = (uint32_t)size};
	return entry;
}

/* Takes `entry` over; it may be NULL.  What else is known of the range is dropped. */
static void insert(struct entry *entry, uint64_t address, size_t size)
{
	unsigned at;

	gpusim_shadow_drop(address, size);
	if (!entry)
		return;
	if (entry_count == ENTRIES || entry_bytes + size > ALL_BYTES)
		make_room();
	at = entry_after(address);
	memmove(&entries[at + 1], &entries[at], (entry_count - at) * sizeof(entries[0]));
	entries[at] = entry;
	entry_count++;
	entry_bytes += size;
}

/* Copy the range to `bytes` if adjoining entries hold all of it; else leave `bytes` as it is. */
static bool collect(uint64_t address, uint8_t *bytes, size_t size)
{
	unsigned first = entry_after(address), at = first;
	uint64_t end = address + size, known = address;

	for (; known < end; at++) {
		if (at == entry_count || entries[at]->address > known ||
		    kernels - entries[at]->born > AGE)
			return false;
		known = entries[at]->address + entries[at]->size;
	}
	for (unsigned i = first; i < at; i++) {
		const struct entry *entry = entries[i];
		uint64_t from = entry->address > address ? entry->address : address;
		uint64_t to =
			entry->address + entry->size < end ? entry->address + entry->size : end;

		memcpy(bytes + (from - address), entry->bytes + (from - entry->address), to - from);
	}
	return true;
}

void gpusim_shadow_write(uint64_t address, const void *bytes, size_t size)
{
	struct entry *entry;

	gpusim_lock();
	entry = new_entry(address, size);
	if (entry)
		memcpy(entry->bytes, bytes, size);
	insert(entry, address, size);
	gpusim_unlock();
}

void gpusim_shadow_fill(uint64_t address, int value, size_t size)
{
	struct entry *entry;

	gpusim_lock();
	entry = size <= FILL_BYTES ? new_entry(address, size) : NULL;
	if (entry)
		memset(entry->bytes, value, size);
	insert(entry, address, size);
	gpusim_unlock();
}

void gpusim_shadow_move(uint64_t to, uint64_t from, size_t size)
{
	struct entry *entry;

	if (atomic_load_explicit(&entry_count, memory_order_relaxed) == 0)
		return;
	gpusim_lock();
	entry = new_entry(to, size);
	if (entry && !collect(from, entry->bytes, size)) {
		free(entry);
		entry = NULL;
	}
	insert(entry, to, size);
	gpusim_unlock();
}

/*
 * Zeros, or now and then the value that the user asks for: one value is read at a time where a
 * program decides by it.  A byte is a boolean.
 */
static void make_up(void *bytes, size_t size)
{
	static atomic_long reads;
	const struct gpusim_config *config = gpusim_config();
	int64_t value = config->read_value;

	memset(bytes, 0, size);
	if (!value || (size != 1 && size != 2 && size != 4 && size != 8))
		return;
	if ((atomic_fetch_add_explicit(&reads, 1, memory_order_relaxed) + 1) % config->read_every)
		return;
	if (size == 1)
		value = 1;
	memcpy(bytes, &value, size);
}

void gpusim_shadow_read(uint64_t address, void *bytes, size_t size)
{
	bool known;

	gpusim_lock();
	known = collect(address, bytes, size);
	gpusim_unlock();
	if (!known)
		make_up(bytes, size);
}

/* Does any of eight words point between `lowest` and `lowest` + `span`?  Written to be vectorised.
 */
static bool any_within(const uint64_t *words, uint64_t lowest, uint64_t span)
{
	uint64_t hit = 0;

	for (int i = 0; i < 8; i++)
		hit |= words[i] - lowest < span;
	return hit != 0;
}

static void drop_pointed(const uint64_t *words, size_t count)
{
	uint64_t lowest = entries[0]->address;
	uint64_t span = entries[entry_count - 1]->address + entries[entry_count - 1]->size - lowest;

	for (size_t i = 0; i < count && entry_count; i += 8) {
		size_t end = i + 8 < count ? i + 8 : count;

		if (end - i == 8 && !any_within(&words[i], lowest, span))
			continue;
		for (size_t j = i; j < end; j++)
			if (words[j] - lowest < span)
				gpusim_shadow_drop(words[j], 1);
	}
}

void gpusim_shadow_kernel(const uint64_t *words, size_t count)
{
	atomic_fetch_add_explicit(&kernels, 1, memory_order_relaxed);
	if (atomic_load_explicit(&entry_count, memory_order_relaxed) == 0)
		return;
	gpusim_lock();
	if (kernels >= next_sweep) {
		drop_old();
		next_sweep = kernels + AGE / 4;
	}
	if (entry_count)
		drop_pointed(words, count);
	gpusim_unlock();
}

void gpusim_shadow_forget(void)
{
	atomic_fetch_add_explicit(&kernels, 1, memory_order_relaxed);
	gpusim_lock();
	remove_entries(0, entry_count);
	gpusim_unlock();
}
