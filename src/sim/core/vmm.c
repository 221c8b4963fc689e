#include "sim/core/vmm.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "sim/core/device.h"
#include "sim/core/lock.h"
#include "sim/core/shadow.h"
#include "sim/core/space.h"

/* Physical memory.  Its address is the handle. */
struct block {
	uint64_t size;
	int ordinal;
	unsigned references; /* handles not yet released */
	unsigned granules;   /* mapped granules of 2 MiB */
};

/* Addresses.  The list is sorted by nothing: there are few. */
struct reservation {
	struct reservation *next;
	uint64_t base, size; /* as given out, whole granules */
	void *mapping;	     /* owned, with room to align */
	size_t mapping_size;
	struct block **blocks; /* by granule; borrowed, counted in block->granules */
};

/* Guarded by the core's lock. */
static struct reservation *reservations;
/* So that a program without expandable segments takes no lock to look up an address. */
static atomic_uint reservation_count;

static struct reservation *reservation_at(uint64_t address)
{
	struct reservation *r;

	for (r = reservations; r; r = r->next)
		if (address - r->base < r->size)
			return r;
	return NULL;
}

int gpusim_vmm_reserve(size_t size, uint64_t *address)
{
	size_t granules = (size + GPUSIM_CHUNK - 1) / GPUSIM_CHUNK;
	struct reservation *r;

	if (size == 0)
		return GPUSIM_INVALID_VALUE;
	r = calloc(1, sizeof(*r));
	if (!r)
		return GPUSIM_OUT_OF_MEMORY;
	r->size = granules * GPUSIM_CHUNK;
	r->mapping_size = r->size + GPUSIM_CHUNK;
	r->blocks = calloc(granules, sizeof(struct block *));
	r->mapping = mmap(NULL, r->mapping_size, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!r->blocks || r->mapping == MAP_FAILED) {
		if (r->mapping != MAP_FAILED)
			munmap(r->mapping, r->mapping_size);
		free(r->blocks);
		free(r);
		return GPUSIM_OUT_OF_MEMORY;
	}
	madvise(r->mapping, r->mapping_size, MADV_DONTDUMP);
	r->base = ((uint64_t)r->mapping + GPUSIM_CHUNK - 1) / GPUSIM_CHUNK * GPUSIM_CHUNK;
	*address = r->base;

	gpusim_lock();
	r->next = reservations;
	reservations = r;
	atomic_fetch_add(&reservation_count, 1);
	gpusim_unlock();
	return GPUSIM_SUCCESS;
}

int gpusim_vmm_unreserve(uint64_t address, size_t size)
{
	struct reservation *r, **link;

	(void)size;
	gpusim_lock();
	for (link = &reservations; *link; link = &(*link)->next)
		if ((*link)->base == address)
			break;
	r = *link;
	if (r) {
		*link = r->next;
		atomic_fetch_sub(&reservation_count, 1);
	}
	gpusim_unlock();
	if (!r)
		return GPUSIM_INVALID_VALUE;
	munmap(r->mapping, r->mapping_size);
	free(r->blocks);
	free(r);
	return GPUSIM_SUCCESS;
}

int gpusim_vmm_create(int ordinal, size_t size, uint64_t *handle)
{
	struct block *block;
	int error;

	if (size == 0 || size % GPUSIM_CHUNK)
		return GPUSIM_INVALID_VALUE;
	error = gpusim_device_charge(ordinal, size);
	if (error)
		return error;
	block = calloc(1, sizeof(*block));
	if (!block) {
		gpusim_device_refund(ordinal, size);
		return GPUSIM_OUT_OF_MEMORY;
	}
	*block = (struct block){.size = size, .ordinal = ordinal, .references = 1};
	*handle = (uint64_t)block;
	return GPUSIM_SUCCESS;
}

/* Give the physical memory back once nobody holds it.  Without the lock. */
static void settle(struct block *block, bool gone)
{
	if (!gone)
		return;
	gpusim_device_refund(block->ordinal, block->size);
	free(block);
}

int gpusim_vmm_release(uint64_t handle)
{
	struct block *block = (struct block *)handle;
	bool gone;

	if (!block)
		return GPUSIM_INVALID_VALUE;
	gpusim_lock();
	block->references--;
	gone = block->references == 0 && block->granules == 0;
	gpusim_unlock();
	settle(block, gone);
	return GPUSIM_SUCCESS;
}

int gpusim_vmm_map(uint64_t address, size_t size, uint64_t handle)
{
	struct block *block = (struct block *)handle;
	size_t first, count = size / GPUSIM_CHUNK;
	int error = GPUSIM_INVALID_VALUE;
	struct reservation *r;

	gpusim_lock();
	r = reservation_at(address);
	if (!block || !r || size % GPUSIM_CHUNK || (address - r->base) % GPUSIM_CHUNK ||
	    size > block->size || size > r->size - (address - r->base))
		goto out;
	first = (address - r->base) / GPUSIM_CHUNK;
	for (size_t i = 0; i < count; i++)
		if (r->blocks[first + i])
			goto out;
	for (size_t i = 0; i < count; i++)
		r->blocks[first + i] = block;
	block->granules += (unsigned)count;
	error = GPUSIM_SUCCESS;
out:
	gpusim_unlock();
	return error;
}

/* Unmap one granule; the block it held if that is gone now.  Under the lock. */
static struct block *unmap_granule(struct reservation *r, size_t number)
{
	struct block *block = r->blocks[number];

	if (!block)
		return NULL;
	r->blocks[number] = NULL;
	block->granules--;
	return block->granules == 0 && block->references == 0 ? block : NULL;
}

int gpusim_vmm_unmap(uint64_t address, size_t size)
{
	struct reservation *r;
	struct block *gone;

	for (size_t done = 0; done < size; done += GPUSIM_CHUNK) {
		gpusim_lock();
		r = reservation_at(address + done);
		gone = r ? unmap_granule(r, (address + done - r->base) / GPUSIM_CHUNK) : NULL;
		gpusim_shadow_drop(address + done, GPUSIM_CHUNK);
		gpusim_unlock();
		if (!r)
			return GPUSIM_INVALID_VALUE;
		settle(gone, gone != NULL);
	}
	return GPUSIM_SUCCESS;
}

int gpusim_vmm_retain(uint64_t address, uint64_t *handle)
{
	struct reservation *r;
	struct block *block = NULL;

	gpusim_lock();
	r = reservation_at(address);
	if (r)
		block = r->blocks[(address - r->base) / GPUSIM_CHUNK];
	if (block)
		block->references++;
	gpusim_unlock();
	*handle = (uint64_t)block;
	return block ? GPUSIM_SUCCESS : GPUSIM_INVALID_VALUE;
}

int gpusim_vmm_device_of_handle(uint64_t handle)
{
	return handle ? ((struct block *)handle)->ordinal : -1;
}

int gpusim_vmm_device_of(uint64_t address)
{
	struct reservation *r;
	struct block *block;
	int ordinal = -1;

	if (atomic_load_explicit(&reservation_count, memory_order_relaxed) == 0)
		return -1;
	gpusim_lock();
	r = reservation_at(address);
	if (r) {
		block = r->blocks[(address - r->base) / GPUSIM_CHUNK];
		ordinal = block ? block->ordinal : 0;
	}
	gpusim_unlock();
	return ordinal;
}

bool gpusim_vmm_find(uint64_t address, void **start, size_t *size)
{
	struct reservation *r;

	gpusim_lock();
	r = reservation_at(address);
	if (r) {
		*start = (void *)r->base;
		*size = r->size;
	}
	gpusim_unlock();
	return r != NULL;
}
