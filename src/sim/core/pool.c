#include "sim/core/pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "sim/core/config.h"
#include "sim/core/device.h"

enum {
	STEP = 32 << 20,
	BUCKETS = 65536,
	ATTRIBUTE_THRESHOLD = 4,
	ATTRIBUTE_RESERVED = 5,
	ATTRIBUTE_RESERVED_HIGH = 6,
	ATTRIBUTE_USED = 7,
	ATTRIBUTE_USED_HIGH = 8,
};

/* Which pool a block is from. */
struct block {
	struct block *next;
	void *pointer;
	struct gpusim_pool *pool; /* borrowed */
	uint64_t size;
};

/* Guards pools and blocks.  Outermost: the core's lock is taken within it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gpusim_pool defaults[GPUSIM_DEVICES_MAX];
static struct block *blocks[BUCKETS];

static struct block **bucket_of(const void *pointer)
{
	return &blocks[((uint64_t)pointer >> 9) % BUCKETS];
}

static uint64_t in_steps(uint64_t size)
{
	return (size + STEP - 1) / STEP * STEP;
}

static void init_pool(struct gpusim_pool *pool, int device)
{
	*pool = (struct gpusim_pool){.device = device, .flags = {0, 1, 1, 1}, .ready = true};
}

struct gpusim_pool *gpusim_pool_default(int device)
{
	struct gpusim_pool *pool;

	if (device < 0 || device >= gpusim_device_count())
		return NULL;
	pool = &defaults[device];
	pthread_mutex_lock(&lock);
	if (!pool->ready)
		init_pool(pool, device);
	pthread_mutex_unlock(&lock);
	return pool;
}

int gpusim_pool_new(int device, struct gpusim_pool **pool)
{
	if (device < 0 || device >= gpusim_device_count())
		return GPUSIM_INVALID_VALUE;
	*pool = calloc(1, sizeof(**pool));
	if (!*pool)
		return GPUSIM_OUT_OF_MEMORY;
	init_pool(*pool, device);
	return GPUSIM_SUCCESS;
}

void gpusim_pool_free(struct gpusim_pool *pool)
{
	if (pool < defaults || pool >= defaults + GPUSIM_DEVICES_MAX) {
		gpusim_device_refund(pool->device, pool->reserved);
		free(pool);
	}
}

/* Take from the device what is missing.  Under the lock. */
static int grow(struct gpusim_pool *pool, uint64_t size)
{
	uint64_t missing;
	int error;

	if (pool->used + size <= pool->reserved)
		return GPUSIM_SUCCESS;
	missing = in_steps(pool->used + size - pool->reserved);
	error = gpusim_device_charge(pool->device, missing);
	if (error)
		return error;
	pool->reserved += missing;
	if (pool->reserved > pool->reserved_high)
		pool->reserved_high = pool->reserved;
	return GPUSIM_SUCCESS;
}

int gpusim_pool_take(struct gpusim_pool *pool, size_t size, void **pointer)
{
	uint64_t rounded = (size + 511) / 512 * 512;
	struct block *block, **bucket;
	int error;

	*pointer = NULL;
	if (size == 0)
		return GPUSIM_SUCCESS;
	block = malloc(sizeof(*block));
	if (!block)
		return GPUSIM_OUT_OF_MEMORY;
	pthread_mutex_lock(&lock);
	error = grow(pool, rounded);
	if (!error)
		error = gpusim_address_take(pool->device, rounded, pointer);
	if (!error) {
		pool->used += rounded;
		if (pool->used > pool->used_high)
			pool->used_high = pool->used;
		bucket = bucket_of(*pointer);
		*block = (struct block){*bucket, *pointer, pool, rounded};
		*bucket = block;
	}
	pthread_mutex_unlock(&lock);
	if (error)
		free(block);
	return error;
}

/* Under the lock. */
static void shrink(struct gpusim_pool *pool, uint64_t keep)
{
	uint64_t needed = in_steps(pool->used > keep ? pool->used : keep);

	if (needed >= pool->reserved)
		return;
	gpusim_device_refund(pool->device, pool->reserved - needed);
	pool->reserved = needed;
}

int gpusim_pool_give(void *pointer)
{
	struct block *block, **link;
	uint64_t size;

	if (!pointer)
		return GPUSIM_SUCCESS;
	pthread_mutex_lock(&lock);
	for (link = bucket_of(pointer); *link; link = &(*link)->next)
		if ((*link)->pointer == pointer)
			break;
	block = *link;
	if (block) {
		*link = block->next;
		block->pool->used -= block->size;
		gpusim_address_give(pointer, &size);
		if (block->pool->threshold < block->pool->reserved)
			shrink(block->pool, block->pool->threshold);
	}
	pthread_mutex_unlock(&lock);
	free(block);
	return block ? GPUSIM_SUCCESS : GPUSIM_INVALID_VALUE;
}

void gpusim_pool_trim(struct gpusim_pool *pool, uint64_t keep)
{
	pthread_mutex_lock(&lock);
	shrink(pool, keep);
	pthread_mutex_unlock(&lock);
}

/* The number behind a 64-bit attribute; NULL: there is none. */
static uint64_t *number_of(struct gpusim_pool *pool, int attribute)
{
	switch (attribute) {
	case ATTRIBUTE_THRESHOLD:
		return &pool->threshold;
	case ATTRIBUTE_RESERVED:
		return &pool->reserved;
	case ATTRIBUTE_RESERVED_HIGH:
		return &pool->reserved_high;
	case ATTRIBUTE_USED:
		return &pool->used;
	case ATTRIBUTE_USED_HIGH:
		return &pool->used_high;
	}
	return NULL;
}

int gpusim_pool_get(struct gpusim_pool *pool, int attribute, void *value)
{
	uint64_t *number = number_of(pool, attribute);

	if (!number && (attribute < 0 || attribute > 3))
		return GPUSIM_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	if (number)
		*(uint64_t *)value = *number;
	else
		*(int *)value = pool->flags[attribute];
	pthread_mutex_unlock(&lock);
	return GPUSIM_SUCCESS;
}

/* A high mark can only be set back, to what is now. */
int gpusim_pool_set(struct gpusim_pool *pool, int attribute, const void *value)
{
	int error = GPUSIM_SUCCESS;

	pthread_mutex_lock(&lock);
	if (attribute == ATTRIBUTE_THRESHOLD)
		pool->threshold = *(const uint64_t *)value;
	else if (attribute == ATTRIBUTE_RESERVED_HIGH)
		pool->reserved_high = pool->reserved;
	else if (attribute == ATTRIBUTE_USED_HIGH)
		pool->used_high = pool->used;
	else if (attribute > 0 && attribute <= 3)
		pool->flags[attribute] = *(const int *)value;
	else
		error = GPUSIM_INVALID_VALUE;
	pthread_mutex_unlock(&lock);
	return error;
}
