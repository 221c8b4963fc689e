#include "report/baseline.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/escape.h"
#include "report/key.h"
#include "report/memory.h"

enum {
	ENTRIES_MAX = 200000,
	SAME_KEY_MAX = 1000, /* looked at for one finding: bounds the time for any bytes */
};

static const off_t json_max = 256 << 20; /* bytes */

/* More than a rate varies from run to run: faster. */
static const double faster = 1.1;

double baseline_amount(enum verdict label, double bytes_per_step, double bytes)
{
	double amount = 0;

	if (label == VERDICT_LEAK || label == VERDICT_GROWING)
		amount = bytes_per_step;
	else if (label == VERDICT_JUMP)
		amount = bytes;
	return amount > 0 ? fmin(amount, 0x1p63) : 0;
}

static double amount_of(const struct finding *finding)
{
	return baseline_amount(finding->label, finding->bytes_per_step, (double)finding->bytes);
}

void baseline_add(struct baseline *baseline, const struct baseline_entry *entry)
{
	struct baseline_entry *copy;

	if (baseline->count == ENTRIES_MAX)
		return;
	if ((baseline->count & (baseline->count - 1)) == 0)
		baseline->entries =
			memory_grow(baseline->entries, baseline->count * 2 + 1, sizeof(*copy));
	copy = &baseline->entries[baseline->count++];
	*copy = *entry;
	copy->key = strdup(entry->key);
	if (!copy->key)
		memory_ended();
}

static int by_key(const void *first, const void *second)
{
	const struct baseline_entry *a = first;
	const struct baseline_entry *b = second;
	int order = strcmp(a->key, b->key);

	if (order)
		return order;
	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	return (a->amount < b->amount) - (a->amount > b->amount);
}

static size_t same_key_end(const struct baseline *baseline, size_t first)
{
	size_t end = first + 1;

	while (end < baseline->count &&
	       strcmp(baseline->entries[end].key, baseline->entries[first].key) == 0)
		end++;
	return end;
}

/* Of the entries with one key those of the device that has most of them. */
static size_t keep_largest_source(struct baseline *baseline, size_t first, size_t end, size_t to)
{
	size_t best = first, best_count = 0;

	for (size_t i = first; i < end;) {
		size_t next = i;

		while (next < end && baseline->entries[next].source == baseline->entries[i].source)
			next++;
		if (next - i > best_count) {
			best = i;
			best_count = next - i;
		}
		i = next;
	}
	for (size_t i = first; i < end; i++) {
		struct baseline_entry entry = baseline->entries[i];

		if (i >= best && i < best + best_count)
			baseline->entries[to++] = entry;
		else
			free(entry.key);
	}
	return to;
}

/*
 * Ranks and devices leak at the same lines.  Each device of the later run is compared
 * with the one that had most findings of a key, so that two leaks of one rank are not
 * taken for the leaks of two.
 */
void baseline_settle(struct baseline *baseline)
{
	size_t kept = 0;

	if (baseline->count)
		qsort(baseline->entries, baseline->count, sizeof(*baseline->entries), by_key);
	for (size_t i = 0; i < baseline->count;) {
		size_t end = same_key_end(baseline, i);

		kept = keep_largest_source(baseline, i, end, kept);
		i = end;
	}
	baseline->count = kept;
}

/* As it stands in JSON: valid UTF-8.  Owned by the caller. */
static char *key_new(struct report *report, const struct finding *finding)
{
	char key[KEY_SIZE];

	key_of(&report->code, finding, key);
	return escape_valid((struct text){key, strlen(key)}, (size_t)4 * KEY_SIZE);
}

void baseline_add_device(struct baseline *baseline, struct report *report,
			 const struct findings *device)
{
	baseline->device_labels |= 1u << device->verdict.label;
	for (size_t i = 0; i < device->count; i++) {
		const struct finding *finding = &device->items[i];

		struct baseline_entry entry = {
			.key = key_new(report, finding),
			.label = finding->label,
			.amount = amount_of(finding),
			.finding = finding,
			.source = baseline->sources,
		};

		baseline_add(baseline, &entry);
		free(entry.key);
	}
	baseline->sources++;
}

static int read_trace(struct baseline *baseline, const struct options *options, struct message *why)
{
	struct options plain = *options;
	struct report report;

	plain.rules = NULL;
	plain.all = false;
	if (report_init(&report, baseline->path, &plain, why) < 0)
		return -1;
	baseline->steps = report.snapshot.steps;
	baseline->host = report_host_label(&report) == VERDICT_HOST;
	for (size_t i = 0; i < report.device_count; i++)
		baseline_add_device(baseline, &report, &report.devices[i]);
	for (size_t i = 0; i < baseline->count; i++)
		baseline->entries[i].finding = NULL;
	report_release(&report);
	return 0;
}

static bool is_trace(int fd)
{
	char magic[sizeof(GPULEAK_MAGIC)];

	return pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	       (memcmp(magic, GPULEAK_MAGIC, sizeof(magic)) == 0 ||
		memcmp(magic, GPULEAK_SLOTS_MAGIC, sizeof(magic)) == 0);
}

static int read_all(int fd, char *bytes, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = pread(fd, bytes + done, size - done, (off_t)done);

		if (got <= 0)
			return -1;
		done += (size_t)got;
	}
	return 0;
}

static int read_json(struct baseline *baseline, int fd, struct message *why)
{
	struct stat st;
	char *bytes;
	int ret = -1;

	if (fstat(fd, &st) < 0)
		return message_errno(why, "%s", baseline->path);
	if (!S_ISREG(st.st_mode) || st.st_size > json_max)
		return message_set(why, "%s: neither a trace nor a report in JSON", baseline->path);
	bytes = memory_new((size_t)st.st_size + 1, 1);
	if (read_all(fd, bytes, (size_t)st.st_size) < 0)
		message_errno(why, "%s", baseline->path);
	else
		ret = baseline_read_json(baseline, bytes, (size_t)st.st_size, why);
	free(bytes);
	return ret;
}

int baseline_read(struct baseline *baseline, const char *path, const struct options *options,
		  struct message *why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int ret;

	*baseline = (struct baseline){.path = path};
	if (fd < 0)
		return message_errno(why, "%s", path);
	ret = is_trace(fd) ? read_trace(baseline, options, why) : read_json(baseline, fd, why);
	close(fd);
	if (ret < 0)
		baseline_release(baseline);
	else
		baseline_settle(baseline);
	return ret;
}

void baseline_release(struct baseline *baseline)
{
	for (size_t i = 0; i < baseline->count; i++)
		free(baseline->entries[i].key);
	free(baseline->entries);
	*baseline = (struct baseline){0};
}

/* The first entry with the key, or the count of all. */
static size_t find_key(const struct baseline *baseline, const char *key)
{
	size_t low = 0, high = baseline->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(baseline->entries[middle].key, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The same leak, seen for a shorter or longer time. */
static enum verdict kin_of(enum verdict label)
{
	return label == VERDICT_GROWING ? VERDICT_LEAK : label;
}

static bool is_faster(double amount, const struct baseline_entry *entry)
{
	return amount > faster * entry->amount;
}

/* How much of a finding and an entry must agree, beside the key. */
enum likeness {
	ALIKE = 0,   /* the verdict, and about the same amount */
	AKIN = 1,    /* the verdict */
	RELATED = 2, /* nothing */
	LIKENESSES = 3,
};

static bool is_slower(double amount, const struct baseline_entry *entry)
{
	return faster * amount < entry->amount;
}

/* An entry for the finding that no other took. */
static struct baseline_entry *find_entry(const struct baseline *baseline,
					 const struct finding *finding, const char *key,
					 enum likeness likeness)
{
	double amount = amount_of(finding);
	size_t i = find_key(baseline, key);
	size_t end = i + SAME_KEY_MAX < baseline->count ? i + SAME_KEY_MAX : baseline->count;

	for (; i < end && strcmp(baseline->entries[i].key, key) == 0; i++) {
		struct baseline_entry *entry = &baseline->entries[i];

		if (entry->taken)
			continue;
		if (likeness < RELATED && kin_of(entry->label) != kin_of(finding->label))
			continue;
		if (likeness > ALIKE || (!is_faster(amount, entry) && !is_slower(amount, entry)))
			return entry;
	}
	return NULL;
}

static void take(struct finding *finding, struct baseline_entry *entry, enum likeness likeness)
{
	double amount = amount_of(finding);

	entry->taken = true;
	finding->earlier = entry->finding;
	if (likeness == RELATED)
		return;
	finding->before = entry->amount;
	finding->state = is_faster(amount, entry)   ? FINDING_FASTER
			 : is_slower(amount, entry) ? FINDING_SLOWER
						    : FINDING_KNOWN;
}

/*
 * Two lines of one function have one key.  First those that are as fast as before find
 * their entries, then the others, the fastest first; what is left may have been there
 * with another verdict.
 */
void baseline_compare_device(struct baseline *baseline, struct report *report,
			     struct findings *device)
{
	char **keys = memory_new(device->count, sizeof(*keys));

	for (size_t i = 0; i < baseline->count; i++)
		baseline->entries[i].taken = false;
	for (size_t i = 0; i < device->count; i++) {
		device->items[i].state = FINDING_NEW;
		device->items[i].earlier = NULL;
		keys[i] = key_new(report, &device->items[i]);
	}
	for (unsigned likeness = 0; likeness < LIKENESSES; likeness++) {
		for (size_t i = 0; i < device->count; i++) {
			struct finding *finding = &device->items[i];
			struct baseline_entry *entry;

			if (finding->state != FINDING_NEW || finding->earlier)
				continue;
			entry = find_entry(baseline, finding, keys[i], (enum likeness)likeness);
			if (entry)
				take(finding, entry, (enum likeness)likeness);
		}
	}
	for (size_t i = 0; i < device->count; i++)
		free(keys[i]);
	free(keys);
}

void baseline_compare(struct baseline *baseline, struct report *report)
{
	report->host_known = baseline->host;
	for (size_t i = 0; i < report->device_count; i++) {
		struct findings *device = &report->devices[i];

		baseline_compare_device(baseline, report, device);
		device->known_label = baseline->device_labels & 1u << device->verdict.label;
	}
}
