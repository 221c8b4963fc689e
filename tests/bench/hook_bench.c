/*
 * What the hooks cost, without PyTorch: prints one line of JSON.  Run under the tracer.
 *
 *   hook_bench pairs      ns that recording adds to an allocation and its free
 *   hook_bench devices    the same on one thread, and on each of two threads with a device each
 *   hook_bench grow N     the longest single call while N blocks come to live, while they are
 *                         freed, while N/10 new sites come, and the longest first touch of a page
 *   hook_bench events N   N events, then the time (CLOCK_MONOTONIC, ns) at which it calls exit()
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "gpuleak/gpuleak.h"

#include "../programs/fake.h"
#include "../programs/site_stack.h"

#pragma weak gpuleak_pause
#pragma weak gpuleak_resume
#pragma weak gpuleak_step

enum {
	PAIRS = 20000,
	ROUNDS = 31,
	LIVE = 700, /* blocks, as a training has */
	SITES = 50,
	PRIVATE_WORDS = 1024,
	PRIVATE_STEPS = 25
};

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct request {
	int device;
	uint64_t address;
};

static void take(void *data)
{
	const struct request *request = data;

	fake_alloc_at(request->device, request->address, 512);
}

static uint64_t address_of(unsigned i)
{
	return 0x500000000000u + (uint64_t)i * 512;
}

static void fill(int device, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		site_call(i % SITES, take, &(struct request){device, address_of(i)});
}

/* ns a pair. */
static double time_pairs(int device)
{
	uint64_t start = now_ns(CLOCK_MONOTONIC);

	for (unsigned i = 0; i < PAIRS; i++) {
		struct request request = {device, address_of(LIVE + i % 97)};

		site_call(i % SITES, take, &request);
		fake_free_at(device, request.address, 512);
	}
	return (double)(now_ns(CLOCK_MONOTONIC) - start) / PAIRS;
}

/* The best of the rounds with recording less the best without: the rest is noise. */
static double added(int device)
{
	double best[2] = {1e18, 1e18};

	for (unsigned round = 0; round < 2 * ROUNDS; round++) {
		bool records = round % 2;
		double ns;

		(records ? gpuleak_resume : gpuleak_pause)();
		ns = time_pairs(device);
		if (ns < best[records])
			best[records] = ns;
	}
	gpuleak_resume();
	return best[1] - best[0];
}

/* As long as a pair, in memory of the thread's own: what two threads cost each other on this
 * machine. */
static double time_private(int device)
{
	static uint64_t words[FAKE_DEVICES][PRIVATE_WORDS] __attribute__((aligned(4096)));
	uint64_t *own = words[device], at = 1;
	uint64_t start = now_ns(CLOCK_MONOTONIC);

	for (unsigned i = 0; i < PAIRS; i++) {
		for (unsigned j = 0; j < PRIVATE_STEPS; j++) {
			at = at * 0x9e3779b97f4a7c15ull + own[at >> 54];
			own[at >> 54] = at;
		}
	}
	return (double)(now_ns(CLOCK_MONOTONIC) - start) / PAIRS;
}

struct work {
	int device;
	double (*time)(int device);
};

static void *best_of_rounds(void *data)
{
	const struct work *work = data;
	double *best = malloc(sizeof(*best));

	*best = 1e18;
	for (unsigned round = 0; round < ROUNDS; round++) {
		double ns = work->time(work->device);

		if (ns < *best)
			*best = ns;
	}
	return best;
}

/* The slowest of so many threads, each on a device of its own. */
static double on_threads(unsigned count, double (*time)(int device))
{
	pthread_t threads[FAKE_DEVICES];
	struct work work[FAKE_DEVICES];
	double slowest = 0;

	for (unsigned i = 0; i < count; i++) {
		work[i] = (struct work){(int)i, time};
		pthread_create(&threads[i], NULL, best_of_rounds, &work[i]);
	}
	for (unsigned i = 0; i < count; i++) {
		void *result;
		double *ns;

		pthread_join(threads[i], &result);
		ns = result;
		slowest = *ns > slowest ? *ns : slowest;
		free(ns);
	}
	return slowest;
}

static void pairs(void)
{
	fill(0, LIVE);
	added(0);
	printf("{\"pair_ns\": %.1f}\n", added(0));
}

static void devices(void)
{
	double alone, together, control_alone, control_together;

	fill(0, LIVE);
	fill(1, LIVE);
	on_threads(2, time_pairs);
	alone = on_threads(1, time_pairs);
	together = on_threads(2, time_pairs);
	control_alone = on_threads(1, time_private);
	control_together = on_threads(2, time_private);
	printf("{\"alone_ns\": %.1f, \"together_ns\": %.1f, \"control_alone_ns\": %.1f, "
	       "\"control_together_ns\": %.1f}\n",
	       alone, together, control_alone, control_together);
}

static void take_block(unsigned i)
{
	site_call(i % SITES, take, &(struct request){0, address_of(i)});
}

static void give_block(unsigned i)
{
	fake_free_at(0, address_of(i), 512);
}

static void take_at_new_site(unsigned i)
{
	site_call(0x10000000 + i, take, &(struct request){1, address_of(i)});
}

static char *pages;

static void touch_page(unsigned i)
{
	pages[(size_t)i * 4096] = 1;
}

/* ns of CPU time of the longest of so many calls. */
static unsigned long long longest(void (*call)(unsigned i), unsigned count)
{
	uint64_t longest = 0;

	for (unsigned i = 0; i < count; i++) {
		uint64_t start = now_ns(CLOCK_THREAD_CPUTIME_ID), spent;

		call(i);
		spent = now_ns(CLOCK_THREAD_CPUTIME_ID) - start;
		longest = spent > longest ? spent : longest;
	}
	return longest;
}

/* Each table grows: of the blocks, of frees that wait for a mark, of sites.  Control: a page. */
static void grow(unsigned count)
{
	size_t size = (size_t)count / 16 * 4096;
	unsigned long long blocks, frees, sites, page;

	pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return;
	page = longest(touch_page, count / 16);
	fill(0, SITES);
	blocks = longest(take_block, count);
	gpuleak_step();
	frees = longest(give_block, count);
	sites = longest(take_at_new_site, count / 10);
	printf("{\"blocks_ns\": %llu, \"frees_ns\": %llu, \"sites_ns\": %llu, \"page_ns\": %llu}\n",
	       blocks, frees, sites, page);
}

static void events(unsigned count)
{
	fill(0, LIVE);
	for (unsigned i = 0; i < count; i += 2) {
		struct request request = {0, address_of(LIVE)};

		site_call(i % SITES, take, &request);
		fake_free_at(0, request.address, 512);
	}
	printf("{\"exit_at\": %llu}\n", (unsigned long long)now_ns(CLOCK_MONOTONIC));
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	unsigned count = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;

	fake_c10_quiet = true;
	if (strcmp(what, "events") == 0) {
		events(count);
	} else if (strcmp(what, "devices") == 0) {
		devices(); /* untraced as well: another control */
	} else if (!gpuleak_pause || !gpuleak_resume) {
		fprintf(stderr, "hook_bench: the tracer is not loaded\n");
		return 2;
	} else if (strcmp(what, "pairs") == 0) {
		pairs();
	} else if (strcmp(what, "grow") == 0) {
		grow(count);
	} else {
		return 2;
	}
	return 0;
}
