/*
 * Threads that free each other's memory, all at once.
 * Usage: threads THREADS DEVICES ROUNDS; prints the totals of each device.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "gpuleak/gpuleak.h"

#include "fake.h"
#include "site_stack.h"

#pragma weak gpuleak_step

enum {
	THREADS_MAX = 64,
	BLOCKS = 32, /* handed on at a time */
	SITES = 50,
};

struct block {
	int device;
	uint64_t address;
	uint64_t size;
};

/* What one thread hands to the next one; its lock guards `blocks`. */
struct basket {
	pthread_mutex_t lock;
	struct block blocks[BLOCKS];
	unsigned count;
};

static struct basket baskets[THREADS_MAX];
static unsigned threads, devices, rounds;

static struct {
	atomic_ullong allocs, frees, live_blocks, live_bytes;
} totals[FAKE_DEVICES];

struct request {
	struct block *block;
	unsigned *random;
};

static void take(void *data)
{
	const struct request *request = data;
	struct block *block = request->block;

	block->size = 512 * (1 + (uint64_t)rand_r(request->random) % 16);
	block->address = fake_alloc(block->device, block->size);
	totals[block->device].allocs++;
	totals[block->device].live_blocks++;
	totals[block->device].live_bytes += block->size;
}

/* As PyTorch does: an input is filled from the host, cuBLAS gets its workspace. */
static void use(const struct block *block, unsigned round)
{
	void *address = (void *)(uintptr_t)block->address;

	cudaSetDevice(block->device);
	if (round % 3 == 0)
		cudaMemcpyAsync(address, NULL, block->size, 1, NULL);
	if (round % 5 == 0)
		cublasSetWorkspace_v2(NULL, address, block->size);
}

static void give(const struct block *block)
{
	fake_free_at(block->device, block->address, block->size);
	totals[block->device].frees++;
	totals[block->device].live_blocks--;
	totals[block->device].live_bytes -= block->size;
}

/* False when the basket is full. */
static bool hand_on(struct basket *to, const struct block *block)
{
	bool room;

	pthread_mutex_lock(&to->lock);
	room = to->count < BLOCKS;
	if (room)
		to->blocks[to->count++] = *block;
	pthread_mutex_unlock(&to->lock);
	return room;
}

static void empty(struct basket *basket)
{
	struct block blocks[BLOCKS];
	unsigned count;

	pthread_mutex_lock(&basket->lock);
	count = basket->count;
	for (unsigned i = 0; i < count; i++)
		blocks[i] = basket->blocks[i];
	basket->count = 0;
	pthread_mutex_unlock(&basket->lock);
	for (unsigned i = 0; i < count; i++)
		give(&blocks[i]);
}

static void *work(void *number)
{
	unsigned own = (unsigned)(uintptr_t)number;
	unsigned random = own;

	for (unsigned round = 0; round < rounds; round++) {
		struct block block = {.device = (int)((own + round) % devices)};
		struct request request = {&block, &random};

		site_call((uint32_t)rand_r(&random) % SITES, take, &request);
		use(&block, round);
		if (!hand_on(&baskets[(own + 1) % threads], &block))
			give(&block);
		if (round % 7 == 0)
			empty(&baskets[own]);
		if (gpuleak_step && own == 0 && round % 16 == 0)
			gpuleak_step();
	}
	return NULL;
}

/* Backward passes come and go beside what autograd's threads do for them. */
static void *pass_after_pass(void *data)
{
	atomic_bool *end = data;

	while (!*end) {
		fake_execute(NULL, NULL, NULL, false, false, true, NULL);
		usleep(1000);
	}
	return NULL;
}

/* A thread of autograd lives in thread_init(). */
static void live(const void *number)
{
	if (number)
		work((void *)(uintptr_t)number);
}

static void *be_of_autograd(void *number)
{
	fake_thread_init(number, 0, NULL, false);
	return NULL;
}

static unsigned number(const char *text, unsigned most)
{
	unsigned long value = strtoul(text, NULL, 10);

	return value < 1 ? 1 : value > most ? most : (unsigned)value;
}

int main(int argc, char **argv)
{
	pthread_t started[THREADS_MAX], passing[2];
	atomic_bool end = false;

	if (argc != 4)
		return 2;
	threads = number(argv[1], THREADS_MAX);
	devices = number(argv[2], FAKE_DEVICES);
	rounds = number(argv[3], 1u << 30);
	for (unsigned i = 0; i < threads; i++)
		pthread_mutex_init(&baskets[i].lock, NULL);
	fake_c10_quiet = true;
	fake_torch_during = live;
	for (uintptr_t i = 0; i < threads; i++)
		pthread_create(&started[i], NULL, i % 2 ? be_of_autograd : work, (void *)i);
	for (unsigned i = 0; i < 2; i++)
		pthread_create(&passing[i], NULL, pass_after_pass, &end);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(started[i], NULL);
	end = true;
	for (unsigned i = 0; i < 2; i++)
		pthread_join(passing[i], NULL);
	if (gpuleak_step)
		gpuleak_step();
	for (unsigned i = 0; i < devices; i++)
		printf("{\"device\": %u, \"allocs\": %llu, \"frees\": %llu, \"live_blocks\": %llu, "
		       "\"live_bytes\": %llu}\n",
		       i, totals[i].allocs, totals[i].frees, totals[i].live_blocks,
		       totals[i].live_bytes);
	return 0;
}
