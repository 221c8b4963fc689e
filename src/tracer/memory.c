#include "tracer/memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "tracer/banned.h"

static _Atomic(uint64_t) taken;

uint64_t memory_taken(void)
{
	return atomic_load_explicit(&taken, memory_order_relaxed);
}

void *memory_take(size_t size)
{
	int saved = errno;
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	errno = saved;
	if (memory == MAP_FAILED)
		return NULL;
	atomic_fetch_add_explicit(&taken, size, memory_order_relaxed);
	return memory;
}

void memory_give(void *memory, size_t size)
{
	int saved = errno;

	if (memory && munmap(memory, size) == 0)
		atomic_fetch_sub_explicit(&taken, size, memory_order_relaxed);
	errno = saved;
}

__attribute__((cold, noinline)) static bool array_grow(struct memory_array *array)
{
	size_t capacity = array->capacity ? 2 * array->capacity : 4096 / array->item_size + 1;
	size_t old_size = array->capacity * array->item_size;
	int saved = errno;
	void *items;

	if (!array->items) {
		items = memory_take(capacity * array->item_size);
		if (!items)
			return false;
	} else {
		items = mremap(array->items, old_size, capacity * array->item_size, MREMAP_MAYMOVE);
		errno = saved;
		if (items == MAP_FAILED)
			return false;
		atomic_fetch_add_explicit(&taken, capacity * array->item_size - old_size,
					  memory_order_relaxed);
	}
	array->items = items;
	array->capacity = capacity;
	return true;
}

void *memory_array_add(struct memory_array *array, size_t item_size)
{
	uint8_t *item;

	array->item_size = item_size;
	if (array->count == array->capacity && !array_grow(array))
		return NULL;
	item = (uint8_t *)array->items + array->count * item_size;
	memset(item, 0, item_size);
	array->count++;
	return item;
}
