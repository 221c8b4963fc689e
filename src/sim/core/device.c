#include "sim/core/device.h"

#include <pthread.h>
#include <sys/mman.h>

#include "sim/core/config.h"
#include "sim/core/lock.h"
#include "sim/core/shadow.h"
#include "sim/core/space.h"
#include "sim/core/vmm.h"

/* One device as this process uses it.  Guarded by the core's lock. */
struct device {
	uint64_t total, used;	       /* bytes */
	struct gpusim_space memory;    /* charged to the device */
	struct gpusim_space addresses; /* not charged */
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct device devices[GPUSIM_DEVICES_MAX];
static int device_count; /* written once, under `once` */
static uint64_t window;	 /* where the devices' addresses begin; 0: none to be had */
static uint64_t half;	 /* bytes of address space, twice per device */

static bool reserve(uint64_t size)
{
	uint64_t length = size * 2 * (uint64_t)device_count + GPUSIM_CHUNK;
	void *start =
		mmap(NULL, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (start == MAP_FAILED)
		return false;
	madvise(start, length, MADV_DONTDUMP);
	window = ((uint64_t)start + GPUSIM_CHUNK - 1) / GPUSIM_CHUNK * GPUSIM_CHUNK;
	half = size;
	return true;
}

/* 512 GiB for each half, less where the address space is limited (ulimit -v). */
static void set_up(void)
{
	const struct gpusim_config *config = gpusim_config();
	uint64_t size = 512ull << 30;

	device_count = config->visible_count;
	for (int i = 0; i < device_count; i++) {
		devices[i].total = config->memory[config->visible[i]];
		while (size < devices[i].total * 2)
			size *= 2;
	}
	while (device_count && !reserve(size) && size > (1ull << 30))
		size /= 2;
	for (int i = 0; i < device_count && window; i++) {
		uint64_t base = window + half * 2 * (uint64_t)i;

		gpusim_space_init(&devices[i].memory, base, half);
		gpusim_space_init(&devices[i].addresses, base + half, half);
	}
}

static struct device *device_at(int ordinal)
{
	pthread_once(&once, set_up);
	return ordinal >= 0 && ordinal < device_count ? &devices[ordinal] : NULL;
}

int gpusim_device_count(void)
{
	pthread_once(&once, set_up);
	return device_count;
}

int gpusim_device_physical(int ordinal)
{
	return device_at(ordinal) ? gpusim_config()->visible[ordinal] : -1;
}

void gpusim_device_memory(int ordinal, uint64_t *total, uint64_t *used)
{
	struct device *device = device_at(ordinal);

	*total = *used = 0;
	if (!device)
		return;
	gpusim_lock();
	*total = device->total;
	*used = device->used;
	gpusim_unlock();
}

/* Under the lock. */
static int charge(struct device *device, uint64_t bytes)
{
	if (bytes > device->total - device->used)
		return GPUSIM_OUT_OF_MEMORY;
	device->used += bytes;
	return GPUSIM_SUCCESS;
}

int gpusim_device_charge(int ordinal, uint64_t bytes)
{
	struct device *device = device_at(ordinal);
	int error;

	if (!device)
		return GPUSIM_INVALID_DEVICE;
	gpusim_lock();
	error = charge(device, bytes);
	gpusim_unlock();
	return error;
}

void gpusim_device_refund(int ordinal, uint64_t bytes)
{
	struct device *device = device_at(ordinal);

	if (!device)
		return;
	gpusim_lock();
	device->used -= bytes;
	gpusim_unlock();
}

int gpusim_memory_take(int ordinal, size_t size, void **pointer)
{
	struct device *device = device_at(ordinal);
	uint64_t cost;
	int error;

	*pointer = NULL;
	if (!device)
		return GPUSIM_NO_DEVICE;
	if (size == 0)
		return GPUSIM_SUCCESS;
	if (size > device->total)
		return GPUSIM_OUT_OF_MEMORY;

	gpusim_lock();
	cost = gpusim_space_cost(&device->memory, size);
	error = charge(device, cost);
	if (!error) {
		*pointer = (void *)gpusim_space_take(&device->memory, size);
		if (!*pointer) {
			device->used -= cost;
			error = GPUSIM_OUT_OF_MEMORY;
		}
	}
	gpusim_unlock();
	return error;
}

/* The space that `address` is in and its device's ordinal; NULL: none. */
static struct gpusim_space *space_of(uint64_t address, int *ordinal)
{
	uint64_t part;

	if (!window || address < window)
		return NULL;
	part = (address - window) / half;
	if (part >= 2 * (uint64_t)device_count)
		return NULL;
	*ordinal = (int)(part / 2);
	return part % 2 ? &devices[*ordinal].addresses : &devices[*ordinal].memory;
}

int gpusim_memory_give(void *pointer)
{
	struct gpusim_space *space;
	uint64_t size, saved;
	int ordinal;
	bool ours;

	if (!pointer)
		return GPUSIM_SUCCESS;
	space = space_of((uint64_t)pointer, &ordinal);
	if (!space || space != &devices[ordinal].memory)
		return GPUSIM_INVALID_VALUE;
	gpusim_lock();
	ours = gpusim_space_give(space, (uint64_t)pointer, &size, &saved);
	if (ours) {
		devices[ordinal].used -= saved;
		gpusim_shadow_drop((uint64_t)pointer, size);
	}
	gpusim_unlock();
	return ours ? GPUSIM_SUCCESS : GPUSIM_INVALID_VALUE;
}

int gpusim_address_take(int ordinal, size_t size, void **pointer)
{
	struct device *device = device_at(ordinal);

	*pointer = NULL;
	if (!device)
		return GPUSIM_NO_DEVICE;
	gpusim_lock();
	*pointer = (void *)gpusim_space_take(&device->addresses, size);
	gpusim_unlock();
	return *pointer ? GPUSIM_SUCCESS : GPUSIM_OUT_OF_MEMORY;
}

bool gpusim_address_give(void *pointer, uint64_t *size)
{
	struct gpusim_space *space;
	uint64_t saved;
	int ordinal;
	bool ours;

	space = space_of((uint64_t)pointer, &ordinal);
	if (!space || space != &devices[ordinal].addresses)
		return false;
	gpusim_lock();
	ours = gpusim_space_give(space, (uint64_t)pointer, size, &saved);
	if (ours)
		gpusim_shadow_drop((uint64_t)pointer, *size);
	gpusim_unlock();
	return ours;
}

int gpusim_device_of(const void *pointer)
{
	int ordinal;

	if (space_of((uint64_t)pointer, &ordinal))
		return ordinal;
	return gpusim_vmm_device_of((uint64_t)pointer);
}

bool gpusim_memory_find(const void *pointer, void **start, size_t *size)
{
	struct gpusim_space *space;
	uint64_t begin, length;
	int ordinal;
	bool found;

	space = space_of((uint64_t)pointer, &ordinal);
	if (!space)
		return gpusim_vmm_find((uint64_t)pointer, start, size);
	gpusim_lock();
	found = gpusim_space_find(space, (uint64_t)pointer, &begin, &length);
	gpusim_unlock();
	if (found) {
		*start = (void *)begin;
		*size = length;
	}
	return found;
}
