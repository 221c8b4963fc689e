#include "sim/core/host.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/core/lock.h"

struct range {
	uint64_t start, size;
	enum gpusim_host_kind kind;
};

/* Sorted by start.  Guarded by the core's lock. */
static struct range *ranges;
static size_t range_count, range_room;

/* The first range that ends after `address`. */
static size_t range_after(uint64_t address)
{
	size_t low = 0, high = range_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (ranges[middle].start + ranges[middle].size <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int add_range(void *pointer, size_t size, enum gpusim_host_kind kind)
{
	uint64_t start = (uint64_t)pointer;
	size_t at = range_after(start);

	if (at < range_count && ranges[at].start < start + size)
		return GPUSIM_HOST_ALREADY;
	if (range_count == range_room) {
		size_t room = range_room ? range_room * 2 : 64;
		struct range *grown = realloc(ranges, room * sizeof(*grown));

		if (!grown)
			return GPUSIM_OUT_OF_MEMORY;
		ranges = grown;
		range_room = room;
	}
	memmove(&ranges[at + 1], &ranges[at], (range_count - at) * sizeof(*ranges));
	ranges[at] = (struct range){start, size, kind};
	range_count++;
	return GPUSIM_SUCCESS;
}

/* Remove the range that begins at `pointer`. */
static bool remove_range(const void *pointer, struct range *removed)
{
	size_t at = range_after((uint64_t)pointer);

	if (at == range_count || ranges[at].start != (uint64_t)pointer)
		return false;
	*removed = ranges[at];
	range_count--;
	memmove(&ranges[at], &ranges[at + 1], (range_count - at) * sizeof(*ranges));
	return true;
}

int gpusim_host_take(size_t size, enum gpusim_host_kind kind, void **pointer)
{
	void *memory;
	int error;

	*pointer = NULL;
	if (size == 0)
		return GPUSIM_SUCCESS;
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return GPUSIM_OUT_OF_MEMORY;
	gpusim_lock();
	error = add_range(memory, size, kind);
	gpusim_unlock();
	if (error) {
		munmap(memory, size);
		return error;
	}
	*pointer = memory;
	return GPUSIM_SUCCESS;
}

int gpusim_host_give(void *pointer)
{
	struct range range;
	bool ours;

	if (!pointer)
		return GPUSIM_SUCCESS;
	gpusim_lock();
	ours = remove_range(pointer, &range);
	gpusim_unlock();
	if (!ours || range.kind == GPUSIM_HOST_REGISTERED)
		return GPUSIM_INVALID_VALUE;
	munmap(pointer, range.size);
	return GPUSIM_SUCCESS;
}

int gpusim_host_register(void *pointer, size_t size)
{
	int error;

	if (!pointer || size == 0)
		return GPUSIM_INVALID_VALUE;
	gpusim_lock();
	error = add_range(pointer, size, GPUSIM_HOST_REGISTERED);
	gpusim_unlock();
	return error;
}

int gpusim_host_unregister(void *pointer)
{
	struct range range;
	bool ours;

	gpusim_lock();
	ours = remove_range(pointer, &range);
	gpusim_unlock();
	return ours ? GPUSIM_SUCCESS : GPUSIM_HOST_NOT;
}

enum gpusim_host_kind gpusim_host_kind_of(const void *pointer)
{
	enum gpusim_host_kind kind = GPUSIM_HOST_NONE;
	size_t at;

	gpusim_lock();
	at = range_after((uint64_t)pointer);
	if (at < range_count && ranges[at].start <= (uint64_t)pointer)
		kind = ranges[at].kind;
	gpusim_unlock();
	return kind;
}
