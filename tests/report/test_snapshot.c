/* The trace as of its last mark, while it is written, killed, cut or damaged. */
#include "report/snapshot.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "test_files.h"
#include "trace/layout.h"

static const uint64_t mib = 1ull << 20;

/* Two sites that leak in step with each other: what one holds the other does too. */
static void add_twins(struct build *build)
{
	struct build_pattern pattern = {
		.from = 1, .every = 1, .blocks = 1, .bytes = 4096, .age = BUILD_KEPT};

	build_device(build, 0, "Simulated GPU", 24ull << 30);
	build_site(build, 0, "/home/me/a.py:1:f", 0, pattern);
	build_site(build, 0, "/home/me/a.py:2:f", 0, pattern);
}

static bool take(struct snapshot *snapshot)
{
	struct trace_file file;
	struct message why;
	int ret;

	if (trace_file_open(&file, test_path(), &why) < 0)
		return false;
	ret = snapshot_take(snapshot, &file, test_path(), &why);
	trace_file_release(&file);
	return ret == 0;
}

/* Every record is of the last mark, and they agree. */
static void expect_twins(const struct snapshot *snapshot, uint64_t steps)
{
	EXPECT_U64(snapshot->steps, steps);
	EXPECT_U64(snapshot->damaged, 0);
	EXPECT_U64(snapshot->lost, 0);
	if (snapshot->site_count != 2 || snapshot->device_count != 1) {
		EXPECT_U64(snapshot->site_count, 2);
		return;
	}
	for (unsigned i = 0; i < 2; i++) {
		const struct snapshot_site *site = &snapshot->sites[i];
		const struct gpuleak_evidence_version *evidence = snapshot_evidence(snapshot, site);
		uint64_t blocks = 0;

		EXPECT_U64(site->at.live_blocks, steps);
		EXPECT_U64(site->at.live_bytes, steps * 4096);
		for (unsigned b = 0; evidence && b < evidence->birth_count; b++)
			blocks += evidence->births[b].count;
		EXPECT_U64(blocks, steps);
	}
	EXPECT_U64(snapshot->devices[0].at.allocated, steps * 8192);
	EXPECT_U64(snapshot->mark.mark, steps);
	EXPECT(snapshot->devices[0].timeline_count > 0);
	EXPECT_U64(snapshot->devices[0].timeline[snapshot->devices[0].timeline_count - 1].allocated,
		   steps * 8192);
}

static void expect_read(const struct build *build, uint64_t steps)
{
	struct snapshot snapshot;

	write_trace(build);
	if (!take(&snapshot)) {
		EXPECT(false);
		return;
	}
	expect_twins(&snapshot, steps);
	snapshot_release(&snapshot);
}

static void killed_within_a_mark(void)
{
	struct build build;

	build_init(&build, LAYOUT_SIZE_MIN);
	add_twins(&build);
	for (uint64_t steps = 1; steps < 50; steps++) {
		build_step(&build);
		expect_read(&build, steps);
	}
	build_half_step(&build);
	expect_read(&build, 49);
	build_release(&build);
}

/* Thinned again and again, the timeline still ends at the last mark. */
static void long_runs(void)
{
	struct build build;

	build_init(&build, LAYOUT_SIZE_MIN);
	add_twins(&build);
	build_steps(&build, 1001);
	expect_read(&build, 1001);
	build_step(&build);
	expect_read(&build, 1002);
	build_release(&build);
}

static void nothing_yet(void)
{
	struct snapshot snapshot;
	struct build build;

	build_init(&build, LAYOUT_SIZE_MIN);
	add_twins(&build);
	write_trace(&build);
	EXPECT(take(&snapshot));
	EXPECT_U64(snapshot.steps, 0);
	EXPECT_U64(snapshot.site_count, 0);
	EXPECT_U64(snapshot.damaged, 0);
	snapshot_release(&snapshot);
	build_half_step(&build); /* the first mark is under way */
	write_trace(&build);
	EXPECT(take(&snapshot));
	EXPECT_U64(snapshot.steps, 0);
	EXPECT_U64(snapshot.damaged, 0);
	snapshot_release(&snapshot);
	build_release(&build);
}

/* One damaged number of the state costs at most what it says. */
static void damaged_numbers(void)
{
	struct gpuleak_state good;
	struct snapshot snapshot;
	struct build build;

	build_init(&build, LAYOUT_SIZE_MIN);
	add_twins(&build);
	build_steps(&build, 100);
	good = *build.state;
	for (unsigned bit = 0; bit < 64; bit++) {
		build.state->committed ^= 1ull << bit;
		write_trace(&build);
		EXPECT(take(&snapshot));
		EXPECT(snapshot.steps == 100 || snapshot.steps == 99 || snapshot.steps == 101);
		EXPECT_U64(snapshot.site_count, 2);
		snapshot_release(&snapshot);
		*build.state = good;
		build.state->begun ^= 1ull << bit;
		write_trace(&build);
		EXPECT(take(&snapshot));
		EXPECT_U64(snapshot.steps, 100);
		EXPECT_U64(snapshot.site_count, 2);
		snapshot_release(&snapshot);
		*build.state = good;
	}
	build.state->sites_used = UINT64_MAX;
	build.state->evidence_used = UINT64_MAX;
	build.state->strings_used = UINT64_MAX;
	build.state->frames_used = UINT64_MAX;
	build.state->stacks_used = UINT64_MAX;
	build.state->notes_used = UINT64_MAX;
	build.state->ring_claimed = UINT64_MAX;
	build.state->devices = UINT32_MAX;
	write_trace(&build);
	EXPECT(take(&snapshot));
	EXPECT_U64(snapshot.site_count, 2);
	EXPECT(snapshot.damaged >= 6);
	snapshot_release(&snapshot);
	build_release(&build);
}

/* Cut anywhere: what is before the cut is read, what is missing is counted. */
static void cut_files(void)
{
	struct snapshot snapshot;
	struct build build;
	uint64_t whole;

	build_init(&build, LAYOUT_SIZE_MIN);
	add_twins(&build);
	build_steps(&build, 100);
	whole = build.size;
	for (build.size = 0; build.size < whole; build.size += 1999) {
		write_trace(&build);
		if (!take(&snapshot))
			continue;
		EXPECT(snapshot.cut);
		EXPECT_U64(snapshot.steps, 100);
		EXPECT(snapshot.site_count == 2 || snapshot.blind);
		snapshot_release(&snapshot);
	}
	build.size = layout_section(build.header, GPULEAK_SECTION_RING)->offset;
	write_trace(&build);
	EXPECT(take(&snapshot));
	EXPECT_U64(snapshot.lost, 0);
	EXPECT_U64(snapshot.events_kept, 0);
	snapshot_release(&snapshot);
	build_release(&build);
}

/* A newer minor version has longer items. */
static void longer_items(void)
{
	const struct gpuleak_section *old;
	struct gpuleak_section *new;
	struct build build;
	uint8_t *bytes;

	build_init(&build, LAYOUT_SIZE_MIN);
	add_twins(&build);
	build_steps(&build, 100);
	old = layout_section(build.header, GPULEAK_SECTION_SITES);
	new = (struct gpuleak_section *)(uintptr_t)old;
	bytes = realloc(build.bytes, build.size + mib);
	build.bytes = bytes;
	build.header = (struct gpuleak_file_header *)bytes;
	old = layout_section(build.header, GPULEAK_SECTION_SITES);
	new = (struct gpuleak_section *)(uintptr_t)old;
	memset(bytes + build.size, 0xee, mib);
	for (uint64_t i = 0; i < 2; i++)
		memcpy(bytes + build.size + i * 333, bytes + old->offset + i * 192, 192);
	*new = (struct gpuleak_section){GPULEAK_SECTION_SITES, 333, build.size, 333 * 1000};
	build.size += mib;
	build.header->file_size = build.size;
	build.header->minor = GPULEAK_FORMAT_MINOR + 1;
	expect_read(&build, 100);
	build_release(&build);
}

/* Before 1.2 evidence ended where teeth are now. */
static void shorter_items(void)
{
	const uint32_t size = offsetof(struct gpuleak_evidence, teeth);
	const struct gpuleak_section *old;
	struct snapshot snapshot;
	struct build build;
	uint8_t *bytes;

	build_init(&build, LAYOUT_SIZE_MIN);
	add_twins(&build);
	build_steps(&build, 100);
	old = layout_section(build.header, GPULEAK_SECTION_EVIDENCE);
	bytes = build.bytes + old->offset;
	for (uint64_t i = 0; i < 2; i++)
		memmove(bytes + i * size, bytes + i * sizeof(struct gpuleak_evidence), size);
	*(struct gpuleak_section *)(uintptr_t)old = (struct gpuleak_section){
		GPULEAK_SECTION_EVIDENCE, size, old->offset, old->size / size * size};
	build.header->major = 1;
	build.header->minor = 1;
	expect_read(&build, 100);
	EXPECT(take(&snapshot));
	EXPECT_U64(snapshot_teeth(&snapshot, &snapshot.sites[0])->count, 0);
	EXPECT_U64(snapshot_teeth(&snapshot, &snapshot.sites[0])->lowest_step, 0);
	snapshot_release(&snapshot);
	build_release(&build);
}

/* From 2.0 on a claimed page keeps what an earlier claim left behind the first event. */
static void ring_page_ends(void)
{
	const struct gpuleak_event event = {
		.address = 512,
		.size = 512,
		.when = (uint64_t)GPULEAK_EVENT_ALLOC << 56,
		.site = 0,
		.step = 101,
	};
	struct gpuleak_ring_page *page;
	struct snapshot snapshot;
	struct build build;

	build_init(&build, LAYOUT_SIZE_MIN);
	add_twins(&build);
	build_steps(&build, 100);
	page = build_section(&build, GPULEAK_SECTION_RING);
	page->sequence = 1;
	for (unsigned i = 0; i < 5; i++)
		page->events[i] = event;
	page->events[2].when = 0;
	build.state->ring_claimed = 1;
	write_trace(&build);
	EXPECT(take(&snapshot));
	EXPECT_U64(snapshot.events_kept, 2);
	EXPECT_U64(snapshot.open_count, 2);
	snapshot_release(&snapshot);
	build_release(&build);
}

/* They are those of the mark's own version. */
static void teeth_of_the_mark(void)
{
	struct build_pattern pattern = {
		.from = 1, .every = 1, .blocks = 1, .bytes = 4096, .flush = 10};
	struct snapshot snapshot;
	struct build build;

	build_init(&build, LAYOUT_SIZE_MIN);
	build_device(&build, 0, "Simulated GPU", 24ull << 30);
	build_site(&build, 0, "/home/me/a.py:1:f", 0, pattern);
	for (uint64_t step = 1; step <= 60; step++) {
		const struct gpuleak_teeth *teeth;

		build_step(&build);
		write_trace(&build);
		EXPECT(take(&snapshot));
		teeth = snapshot_teeth(&snapshot, &snapshot.sites[0]);
		/* It falls to one block in step 10; it is over when there are 3 more, later 4. */
		EXPECT_U64(teeth->count, step < 13 ? 0 : step < 24 ? 1 : (step - 4) / 10);
		snapshot_release(&snapshot);
	}
	build_release(&build);
}

struct writer {
	struct build build;
	atomic_bool stop;
	atomic_uint reads;
};

static void *write_steps(void *context)
{
	struct writer *writer = context;

	while (!atomic_load(&writer->stop) && writer->build.step < BUILD_STEPS_MAX - 2) {
		/* A few marks a read, so that the two meet often. */
		if (writer->build.step < 4 * atomic_load(&writer->reads) + 8)
			build_step(&writer->build);
		else
			sched_yield();
	}
	atomic_store(&writer->stop, true);
	return NULL;
}

/* Read a trace over and over while it is written: each snapshot is whole. */
static void read_while_written(void)
{
	int fd = open(test_path(), O_RDWR | O_CREAT | O_TRUNC, 0600);
	struct writer writer = {.stop = false};
	uint64_t last = 0, different = 0;
	struct snapshot snapshot;
	pthread_t thread;
	uint8_t *bytes;

	EXPECT(ftruncate(fd, LAYOUT_SIZE_MIN) == 0);
	bytes = mmap(NULL, LAYOUT_SIZE_MIN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED)
		exit(TEST_FAIL);
	build_init_at(&writer.build, bytes, LAYOUT_SIZE_MIN);
	add_twins(&writer.build);
	build_step(&writer.build);
	EXPECT(pthread_create(&thread, NULL, write_steps, &writer) == 0);
	while (!atomic_load(&writer.stop)) {
		while (__atomic_load_n(&writer.build.state->committed, __ATOMIC_RELAXED) == last &&
		       !atomic_load(&writer.stop))
			sched_yield();
		if (!take(&snapshot)) {
			EXPECT(false);
			break;
		}
		expect_twins(&snapshot, snapshot.steps);
		EXPECT(snapshot.steps >= last);
		different += snapshot.steps != last;
		last = snapshot.steps;
		snapshot_release(&snapshot);
		atomic_fetch_add(&writer.reads, 1);
	}
	atomic_store(&writer.stop, true);
	pthread_join(thread, NULL);
	fprintf(stderr, "%u snapshots of %u different marks\n", atomic_load(&writer.reads),
		(unsigned)different);
	EXPECT(different > 100);
	build_release(&writer.build);
	munmap(bytes, LAYOUT_SIZE_MIN);
	close(fd);
}

static void *race(void *context)
{
	struct writer *writer = context;

	while (!atomic_load(&writer->stop))
		__atomic_fetch_add(&writer->build.state->begun, 5, __ATOMIC_RELAXED);
	return NULL;
}

/* Marks that never let a copy be sound are waited for, but not for long. */
static void faster_than_reading(void)
{
	enum {
		TRIES = 100
	};
	int fd = open(test_path(), O_RDWR | O_CREAT | O_TRUNC, 0600);
	struct writer writer = {.stop = false};
	struct snapshot snapshot;
	struct timespec start, end;
	bool hurried = false;
	pthread_t thread;
	uint8_t *bytes;

	EXPECT(ftruncate(fd, LAYOUT_SIZE_MIN) == 0);
	bytes = mmap(NULL, LAYOUT_SIZE_MIN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED)
		exit(TEST_FAIL);
	build_init_at(&writer.build, bytes, LAYOUT_SIZE_MIN);
	add_twins(&writer.build);
	build_steps(&writer.build, 100);
	EXPECT(pthread_create(&thread, NULL, race, &writer) == 0);
	while (__atomic_load_n(&writer.build.state->begun, __ATOMIC_RELAXED) < 200)
		sched_yield();
	/* On a busy machine the racer may stand still for as long as a copy takes. */
	for (unsigned i = 0; i < TRIES && !hurried; i++) {
		clock_gettime(CLOCK_MONOTONIC, &start);
		EXPECT(take(&snapshot));
		clock_gettime(CLOCK_MONOTONIC, &end);
		hurried = snapshot.hurried;
		expect_twins(&snapshot, 100);
		snapshot_release(&snapshot);
	}
	EXPECT(hurried);
	EXPECT(end.tv_sec - start.tv_sec >= 1 && end.tv_sec - start.tv_sec <= 10);
	atomic_store(&writer.stop, true);
	pthread_join(thread, NULL);
	build_release(&writer.build);
	munmap(bytes, LAYOUT_SIZE_MIN);
	close(fd);
}

int main(void)
{
	nothing_yet();
	killed_within_a_mark();
	long_runs();
	damaged_numbers();
	cut_files();
	longer_items();
	shorter_items();
	ring_page_ends();
	teeth_of_the_mark();
	read_while_written();
	faster_than_reading();
	unlink(test_path());
	return test_result();
}
