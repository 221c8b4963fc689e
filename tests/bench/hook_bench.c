/*
 * What the hooks cost, without PyTorch: prints one line of JSON.  Run under the tracer.
 *
 *   hook_bench pairs      ns that recording adds to an allocation and its free
 *   hook_bench devices    the same on one thread, and on each of two threads with a device each
 *   hook_bench grow N     the longest single call while N blocks come to live, while they are
 *                         freed, while N/10 new sites come; in turns with them loops and first
 *                         touches of pages that are not ours, and how many pages a call touched
 *   hook_bench written    page faults of calls and of marks after the trace was written to its
 * disk, and of stores into a file that was, too hook_bench events N   N events, then the time
 * (CLOCK_MONOTONIC, ns) at which it calls exit()
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

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
	PRIVATE_STEPS = 25,
	PAGE = 4096,
	PAGES_MAX = 1 << 15, /* of each control: more than all tables at 10^6 blocks touch */
	LONG_NS = 200000,    /* what no call may take */
	BLOCK_TURNS = 3500,  /* as long as an allocation or a free: some us */
	SITE_TURNS = 20000,
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

/* Calls of one kind, in CPU time. */
struct timing {
	unsigned long long longest; /* ns */
	unsigned over;		    /* calls that took more than LONG_NS */
};

static void time_call(struct timing *timing, void (*call)(unsigned i), unsigned i)
{
	uint64_t start = now_ns(CLOCK_THREAD_CPUTIME_ID), spent;

	call(i);
	spent = now_ns(CLOCK_THREAD_CPUTIME_ID) - start;
	timing->longest = spent > timing->longest ? spent : timing->longest;
	timing->over += spent > LONG_NS;
}

static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt + usage.ru_majflt;
}

/* The controls' pages: some of nobody's, and some of a file beside the trace, mapped as that is. */
static char *own_pages, *file_pages;
static unsigned touched;

static void touch_own(unsigned i)
{
	own_pages[(size_t)i * PAGE] = 1;
}

static void touch_file(unsigned i)
{
	file_pages[(size_t)i * PAGE] = 1;
}

static void loop(unsigned turns)
{
	for (unsigned i = 0; i < turns; i++)
		__asm__ volatile("");
}

static bool map_pages(void)
{
	const char *trace = getenv("GPULEAK_OUT");
	char *path = NULL;
	int fd;

	if (asprintf(&path, "%s.control", trace ? trace : "trace.bin") < 0)
		return false;
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	unlink(path);
	free(path);
	if (fd < 0 || posix_fallocate(fd, 0, (off_t)PAGES_MAX * PAGE) != 0)
		return false;
	file_pages = mmap(NULL, PAGES_MAX * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	own_pages = mmap(NULL, PAGES_MAX * PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	close(fd);
	return file_pages != MAP_FAILED && own_pages != MAP_FAILED &&
	       madvise(file_pages, PAGES_MAX * PAGE, MADV_RANDOM) == 0;
}

/* One table's growth, and what the machine makes of the same time without us. */
struct growth {
	struct timing calls;
	struct timing loops;	  /* that touch nothing, as long as the calls */
	struct timing own, file;  /* first touches of a page, as many as the calls made */
	long faults, most_faults; /* all, and of one call */
};

/* The controls take turns with the calls: bursts of other load hit all. */
static void grow_by(struct growth *growth, void (*call)(unsigned i), unsigned count, unsigned turns)
{
	for (unsigned i = 0; i < count; i++) {
		long before = faults(), made;

		time_call(&growth->calls, call, i);
		made = faults() - before;
		growth->faults += made;
		growth->most_faults = made > growth->most_faults ? made : growth->most_faults;
		time_call(&growth->loops, loop, turns);
		for (; made && touched < PAGES_MAX; made--, touched++) {
			time_call(&growth->own, touch_own, touched);
			time_call(&growth->file, touch_file, touched);
		}
	}
}

static void print_timing(const char *name, const char *what, const struct timing *timing)
{
	printf("\"%s%s_ns\": %llu, \"%s%s_over\": %u, ", name, what, timing->longest, name, what,
	       timing->over);
}

static void print_growth(const char *name, const struct growth *growth)
{
	print_timing(name, "", &growth->calls);
	print_timing(name, "_loop", &growth->loops);
	print_timing(name, "_own", &growth->own);
	print_timing(name, "_file", &growth->file);
	printf("\"%s_faults\": %ld, \"%s_most_faults\": %ld", name, growth->faults, name,
	       growth->most_faults);
}

/* Each table grows: of the blocks, of frees that wait for a mark, of sites. */
static bool grow(unsigned count)
{
	struct growth blocks = {0}, frees = {0}, sites = {0};

	if (!map_pages())
		return false;
	fill(0, SITES);
	grow_by(&blocks, take_block, count, BLOCK_TURNS);
	gpuleak_step();
	grow_by(&frees, give_block, count, BLOCK_TURNS);
	grow_by(&sites, take_at_new_site, count / 10, SITE_TURNS);
	printf("{");
	print_growth("blocks", &blocks);
	printf(", ");
	print_growth("frees", &frees);
	printf(", ");
	print_growth("sites", &sites);
	printf("}\n");
	return true;
}

enum {
	WRITTEN_STEPS = 40,
	WRITTEN_FIRST = 10,   /* steps until what is ready was made so after the writing */
	WRITTEN_PAIRS = 1000, /* a step: some 16 pages of the ring */
	WRITTEN_PAGES = 64,   /* of the control */
};

static long steps_faults(unsigned first, unsigned steps, long *marks)
{
	long calls = 0;

	*marks = 0;
	for (unsigned step = 0; step < steps; step++) {
		long before = faults(), after;

		for (unsigned i = 0; i < WRITTEN_PAIRS; i++) {
			take_block(LIVE);
			give_block(LIVE);
		}
		after = faults();
		gpuleak_step();
		if (step < first)
			continue;
		calls += after - before;
		*marks += faults() - after;
	}
	return calls;
}

static bool write_to_disk(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool written = fd >= 0 && fsync(fd) == 0;

	close(fd);
	return written;
}

/* What the disk was given is protected anew: the next store into each page is a fault. */
static long control_faults(void)
{
	long before;

	for (unsigned i = 0; i < WRITTEN_PAGES; i++)
		touch_file(i);
	if (msync(file_pages, WRITTEN_PAGES * PAGE, MS_SYNC) != 0)
		return 0;
	before = faults();
	for (unsigned i = 0; i < WRITTEN_PAGES; i++)
		touch_file(i);
	return faults() - before;
}

static bool written(void)
{
	const char *trace = getenv("GPULEAK_OUT");
	long calls, marks;

	if (!gpuleak_step || !map_pages())
		return false;
	fill(0, LIVE);
	steps_faults(0, WRITTEN_STEPS, &marks);
	if (!write_to_disk(trace ? trace : "trace.bin"))
		return false;
	calls = steps_faults(WRITTEN_FIRST, WRITTEN_STEPS, &marks);
	printf("{\"calls\": %ld, \"marks\": %ld, \"control\": %ld}\n", calls, marks,
	       control_faults());
	return true;
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
		return grow(count) ? 0 : 1;
	} else if (strcmp(what, "written") == 0) {
		return written() ? 0 : 1;
	} else {
		return 2;
	}
	return 0;
}
