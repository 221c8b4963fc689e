#include "tracer/memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tracer/hot.h"

#include "tracer/banned.h"

enum {
	SPARSE_MAX = 4, /* the trace, its image, and what is known of its two slots */
	LOOK_PAGES = 2048,
	PAGE = 4096 /* or more */
};

static _Atomic(uint64_t) taken;

/* Written while the trace is made, read-only then. */
static struct sparse {
	uint8_t *memory;
	size_t size;
} sparse[SPARSE_MAX];

/* Bytes of it that were ever touched; all of it where the kernel doesn't tell. */
static uint64_t bytes_in_use(const struct sparse *part)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), looked = LOOK_PAGES * page;
	unsigned char present[LOOK_PAGES];
	uint64_t bytes = 0;
	int saved = errno;

	for (size_t at = 0; at < part->size; at += looked) {
		size_t size = part->size - at < looked ? part->size - at : looked;

		if (mincore(part->memory + at, size, present) < 0)
			memset(present, 1, sizeof(present));
		for (size_t i = 0; i < (size + page - 1) / page; i++)
			bytes += (present[i] & 1u) * page;
	}
	errno = saved;
	return bytes;
}

uint64_t memory_taken(void)
{
	uint64_t bytes = atomic_load_explicit(&taken, memory_order_relaxed);

	for (unsigned i = 0; i < SPARSE_MAX && sparse[i].memory; i++)
		bytes += bytes_in_use(&sparse[i]);
	return bytes;
}

void *memory_take_sparse(size_t size)
{
	void *memory = memory_take(size);
	unsigned i = 0;

	if (!memory)
		return NULL;
	madvise(memory, size, MADV_DONTFORK);
	while (i < SPARSE_MAX && sparse[i].memory)
		i++;
	if (i < SPARSE_MAX) {
		sparse[i] = (struct sparse){memory, size};
		atomic_fetch_sub_explicit(&taken, size, memory_order_relaxed);
	}
	return memory;
}

void memory_forget_sparse(void)
{
	memset(sparse, 0, sizeof(sparse));
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

__attribute__((cold, noinline)) void memory_ahead_touch(struct memory_ahead *ahead, size_t size)
{
	if (!ahead->memory) {
		*ahead = (struct memory_ahead){.memory = memory_take(size)};
		return;
	}
	if (ahead->touched >= size)
		return;
	/* A write: what is only read is one page of zeros for all. */
	*(volatile uint8_t *)(ahead->memory + ahead->touched) = 0;
	ahead->touched += PAGE;
}

void *memory_ahead_take(struct memory_ahead *ahead, size_t size)
{
	void *memory = ahead->memory;

	if (!memory)
		return memory_take(size);
	*ahead = (struct memory_ahead){0};
	return memory;
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

HOT_CODE void *memory_array_add(struct memory_array *array, size_t item_size)
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
