#include "tracer/host.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "tracer/blocks.h"
#include "tracer/levels.h"
#include "tracer/memory.h"
#include "tracer/trace_writer.h"

#include "tracer/banned.h"

/*
 * Reading /proc takes 2 us on some machines and 20 on others.  So a sample waits until the
 * last one is COST_SHARE times its own cost ago, or a share of the marks: twice in each of
 * the parts that a verdict looks at, and few in all, however long the run.
 */
enum {
	COST_SHARE = 4000,
	MARKS_SHARE = 16,
};

static pthread_mutex_t host_lock = PTHREAD_MUTEX_INITIALIZER; /* nothing is taken within */

/* Guarded by host_lock. */
static struct block_table pinned_blocks;

static _Atomic(uint64_t) pinned; /* bytes; written under host_lock */

/* Guarded by mark_lock. */
static struct gpuleak_host_version now; /* what the last mark said */
static uint64_t sampled;		/* when; 0: not yet */
static uint64_t sampled_mark;
static uint64_t sample_cost; /* ns */

void host_forget(void)
{
	pthread_mutex_init(&host_lock, NULL);
	pinned_blocks = (struct block_table){.count = 0};
	atomic_store(&pinned, 0);
	now = (struct gpuleak_host_version){.mark = 0};
	sampled = sampled_mark = sample_cost = 0;
}

void host_pinned(const void *address, size_t size)
{
	struct block block = block_make((uintptr_t)address, size, 0, 0);
	struct block replaced;

	if (size > BLOCK_SIZE_MAX)
		return;
	pthread_mutex_lock(&host_lock);
	if (blocks_put(&pinned_blocks, &block, &replaced))
		atomic_store(&pinned, atomic_load(&pinned) + size -
					      (replaced.address ? block_size(&replaced) : 0));
	pthread_mutex_unlock(&host_lock);
}

void host_unpinned(const void *address)
{
	struct block block;

	pthread_mutex_lock(&host_lock);
	if (blocks_take(&pinned_blocks, (uintptr_t)address, &block))
		atomic_store(&pinned, atomic_load(&pinned) - block_size(&block));
	pthread_mutex_unlock(&host_lock);
}

/* The number at `*at`, which moves behind it and the space that follows. */
static uint64_t take_number(const char **at)
{
	uint64_t number = 0;

	for (; **at >= '0' && **at <= '9'; ++*at)
		number = 10 * number + (uint64_t)(**at - '0');
	while (**at == ' ')
		++*at;
	return number;
}

/*
 * statm: all of the process, resident, shared, and more; in pages.  The file is opened
 * each time: a descriptor that stays may be closed and given to another file by the
 * program, and after a fork it would still tell of the parent.
 */
static void sample(void)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t resident, shared, ours;
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	char text[128];
	const char *at = text;
	ssize_t size;

	if (fd < 0)
		return;
	size = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (size <= 0)
		return;
	text[size] = '\0';
	take_number(&at);
	resident = take_number(&at) * page;
	shared = take_number(&at) * page;
	ours = shared + memory_taken();
	now.resident = resident;
	now.own = resident < ours ? 0 : resident - ours;
}

static uint64_t higher(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void add_level(uint64_t mark)
{
	struct levels levels = {
		.pairs = &now.levels[0].min_own,
		.values = 2,
		.room = GPULEAK_HOST_LEVELS,
		.shift = &now.level_shift,
		.in_use = &now.level_count,
	};

	levels_add(&levels, mark, (const uint64_t[]){now.own, now.pinned});
}

static bool is_due(uint64_t mark, uint64_t when)
{
	return !sampled || when - sampled >= COST_SHARE * sample_cost ||
	       mark - sampled_mark > sampled_mark / MARKS_SHARE;
}

static void sample_if_due(uint64_t mark, uint64_t when)
{
	int saved = errno;

	if (!is_due(mark, when))
		return;
	sample();
	sampled = trace_now() + 1;
	sample_cost = sampled - when;
	sampled_mark = mark;
	errno = saved;
}

/* `into` has an earlier state: levels only change at their end, but when they widen. */
static void copy_to(struct gpuleak_host_version *into)
{
	bool widened = into->level_shift != now.level_shift;
	uint32_t from = into->level_count && !widened ? into->level_count - 1 : 0;
	size_t mark = sizeof(into->mark);

	memcpy(&into->levels[from], &now.levels[from],
	       (now.level_count - from) * sizeof(now.levels[0]));
	memcpy((uint8_t *)into + mark, (const uint8_t *)&now + mark,
	       offsetof(struct gpuleak_host_version, levels) - mark);
}

void host_publish(uint64_t mark, uint64_t when)
{
	struct gpuleak_host_version *versions = trace.host->versions;
	struct gpuleak_host_version *into = &versions[versions[0].mark <= versions[1].mark ? 0 : 1];

	sample_if_due(mark, when + 1);
	now.pinned = atomic_load(&pinned);
	if (!now.mark) {
		now.first_resident = now.resident;
		now.first_pinned = now.pinned;
	}
	now.mark = mark;
	now.peak_resident = higher(now.peak_resident, now.resident);
	now.peak_pinned = higher(now.peak_pinned, now.pinned);
	add_level(mark);
	if (!into->mark)
		into->level_count = 0;
	__atomic_store_n(&into->mark, mark, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	copy_to(into);
}

void host_start_anew(void)
{
	trace.host->versions[0].mark = trace.host->versions[1].mark = 0;
	now = (struct gpuleak_host_version){.resident = now.resident, .own = now.own};
	sampled_mark = 0;
}
