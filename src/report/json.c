#include "report/json.h"

#include <stdlib.h>
#include <string.h>

#include "report/clock.h"
#include "report/json_finding.h"
#include "report/json_memory.h"
#include "report/json_value.h"
#include "report/units.h"

/* What one report's findings may take, so that no trace makes us print without end. */
static const size_t findings_max = 48u << 20; /* bytes */

enum {
	SERIES_MAX = 2000 /* points */
};

static void add_signed_if(struct json *to, const char *name, int64_t value)
{
	if (value >= 0)
		json_add_signed(to, name, value);
	else
		json_add_null(to, name);
}

static void add_integer_if(struct json *to, const char *name, uint64_t value)
{
	if (value)
		json_add_integer(to, name, value);
	else
		json_add_null(to, name);
}

static void add_argv(struct json *to, const struct snapshot *snapshot)
{
	struct text list = names_text(&snapshot->names, snapshot->run.argv);
	struct json *array = json_add_array(to, "argv");
	struct text item;

	for (unsigned i = 0; i < 4096 && text_next(&list, &item); i++)
		json_add_text(array, NULL, item);
}

static void add_dropped(struct json *to, const struct report *report)
{
	const struct gpuleak_state *state = &report->snapshot.state;
	struct json *dropped = json_add_object(to, "dropped");

	json_add_integer(dropped, "events", state->dropped_events);
	json_add_integer(dropped, "sites", state->dropped_sites);
	json_add_integer(dropped, "blocks", state->dropped_blocks);
	json_add_integer(dropped, "evidence", state->dropped_evidence);
	json_add_integer(dropped, "notes", state->dropped_notes);
	json_add_integer(dropped, "damaged_records", report->damaged);
	json_add_integer(dropped, "missing_records", report->snapshot.lost);
}

static struct json *trace_object(struct report *report)
{
	const struct snapshot *snapshot = &report->snapshot;
	const struct names *names = &snapshot->names;
	const struct gpuleak_run *run = &snapshot->run;
	struct json *trace = json_object();
	char date[UNITS_SIZE];

	json_add_string(trace, "path", report->path);
	json_add_integer(trace, "pid", run->pid);
	json_add_text(trace, "host", names_text(names, run->host));
	add_signed_if(trace, "rank", run->rank);
	add_signed_if(trace, "world_size", run->world_size);
	add_argv(trace, snapshot);
	json_add_text(trace, "python", names_text(names, run->python));
	json_add_text(trace, "python_stacks_off", report_without_python(report));
	json_add_text(trace, "optimizer_steps_off", report_without_optimizers(report));
	json_add_text(trace, "torch", names_text(names, run->torch));
	json_add_text(trace, "cuda", names_text(names, run->cuda));
	json_add_text(trace, "tracer", names_text(names, run->tracer));
	json_add_bool(trace, "simulated", run->flags & GPULEAK_RUN_SIMULATED);
	json_add_string(trace, "started", run->started ? units_date(run->started, date) : NULL);
	json_add_real(trace, "seconds", (double)report_duration(report) / 1e9);
	json_add_bool(trace, "running", report->running);
	json_add_bool(trace, "hurried", snapshot->hurried);
	json_add_bool(trace, "complete", report_complete(report));
	json_add_integer(trace, "steps", snapshot->steps);
	json_add_string(trace, "clock", clock_name(snapshot->state.clock));
	json_add_where(trace, "clock_where", snapshot, clock_line(&report->code));
	json_add_integer(trace, "events", report_events(report));
	if (snapshot->events_counted)
		json_add_integer(trace, "events_kept", snapshot->events_kept);
	else
		json_add_null(trace, "events_kept");
	add_dropped(trace, report);
	json_add_text(trace, "gave_up", names_text(names, snapshot->state.gave_up_why));
	json_add_text(trace, "empty", names_text(names, run->empty_why));
	return trace;
}

static void add_sizes(struct json *to, const char *name, uint64_t first, uint64_t last,
		      uint64_t peak)
{
	struct json *sizes = json_add_object(to, name);

	json_add_integer(sizes, "first", first);
	json_add_integer(sizes, "last", last);
	json_add_integer(sizes, "peak", peak);
}

static void add_point(struct json *const series[4], const struct gpuleak_timeline_entry *entries,
		      size_t count)
{
	const struct gpuleak_timeline_entry *last = &entries[count - 1];
	uint64_t peak = 0;

	for (size_t i = 0; i < count; i++)
		peak = entries[i].peak > peak ? entries[i].peak : peak;
	json_add_integer(series[0], NULL, last->last_step);
	json_add_integer(series[1], NULL, last->allocated);
	json_add_integer(series[2], NULL, peak);
	json_add_integer(series[3], NULL, last->reserved);
}

static void add_series(struct json *to, const struct snapshot_device *device)
{
	static const char *const names[] = {"step", "allocated", "peak", "reserved"};
	struct json *object = json_add_object(to, "series");
	size_t count = device->timeline_count;
	size_t points = count < SERIES_MAX ? count : SERIES_MAX;
	struct json *series[4];

	for (unsigned i = 0; i < 4; i++)
		series[i] = json_add_array(object, names[i]);
	for (size_t i = 0; i < points; i++) {
		size_t first = i * count / points;

		add_point(series, &device->timeline[first], (i + 1) * count / points - first);
	}
}

static void add_seconds_until(struct json *to, const char *name,
			      const struct verdict_device *verdict, uint64_t step)
{
	if (step && verdict->full_in_seconds > 0)
		json_add_real(to, name,
			      (double)(step - verdict->now) * verdict->timeline.seconds_per_step);
	else
		json_add_null(to, name);
}

/* The latest is null where it may be never. */
static void add_forecast(struct json *to, const struct verdict_device *verdict)
{
	uint64_t ends[2] = {verdict->full_at_step_low, verdict->full_at_step_high};
	struct json *steps, *seconds;

	add_integer_if(to, "full_at_step", verdict->full_at_step);
	add_seconds_until(to, "full_in_seconds", verdict, verdict->full_at_step);
	if (!verdict->full_at_step) {
		json_add_null(to, "full_at_step_range");
		json_add_null(to, "full_in_seconds_range");
		return;
	}
	steps = json_add_array(to, "full_at_step_range");
	seconds = json_add_array(to, "full_in_seconds_range");
	for (unsigned i = 0; i < 2; i++) {
		add_integer_if(steps, NULL, ends[i]);
		add_seconds_until(seconds, NULL, verdict, ends[i]);
	}
}

/* What the program was told is in use and no hook accounts for. */
static void add_driver(struct json *to, const struct findings *device)
{
	const struct gpuleak_driver_version *at = &device->device->driver;
	struct json *driver;

	if (!at->mark) {
		json_add_null(to, "driver");
		return;
	}
	driver = json_add_object(to, "driver");
	json_add_integer(driver, "first", at->first_other);
	json_add_integer(driver, "last", at->other);
	json_add_integer(driver, "peak", at->peak_other);
	json_add_integer(driver, "asked", at->asked);
	if (device->driver.grows)
		json_add_real(driver, "bytes_per_step", device->driver.bytes_per_step);
	else
		json_add_null(driver, "bytes_per_step");
}

static struct json *device_object(struct report *report, const struct findings *device,
				  const struct options *options)
{
	const struct verdict_device *verdict = &device->verdict;
	const struct gpuleak_device_version *at = &device->device->at;
	const struct names *names = &report->snapshot.names;
	struct json *object = json_object();
	char sentence[VERDICT_SENTENCE];

	json_add_integer(object, "device", device->device->device);
	json_add_text(object, "name", names_text(names, device->device->name));
	json_add_text(object, "uuid", names_text(names, device->device->uuid));
	json_add_string(object, "verdict", verdict_name(verdict->label));
	if (verdict->label == VERDICT_DRIVER)
		verdict_driver_sentence(&device->driver, sentence, sizeof(sentence));
	else
		verdict_device_sentence(verdict, sentence, sizeof(sentence));
	json_add_string(object, "evidence", sentence);
	if (verdict->label == VERDICT_LEAK || verdict->label == VERDICT_GROWING)
		json_add_real(object, "bytes_per_step", verdict->bytes_per_step);
	else
		json_add_null(object, "bytes_per_step");
	add_sizes(object, "allocated", at->first_allocated, at->allocated, at->peak);
	add_sizes(object, "reserved", at->first_reserved, at->reserved, at->peak_reserved);
	add_driver(object, device);
	add_integer_if(object, "capacity", device->device->capacity);
	add_forecast(object, verdict);
	if (verdict->label == VERDICT_SAWTOOTH && device->device->capacity)
		json_add_bool(object, "reaches_ceiling", verdict->reaches_ceiling);
	else
		json_add_null(object, "reaches_ceiling");
	add_series(object, device->device);
	json_add_oom(object, report, device);
	json_add_tail(object, report, device);
	if (verdict->stranded)
		json_add_fragmentation(object, report, device, false);
	else
		json_add_null(object, "fragmentation");
	if (options->peak)
		json_add_peak(object, report, device);
	else
		json_add_null(object, "peak");
	return object;
}

/*
 * Print an object without its closing brace, so that more fields can follow: the
 * findings of a trace are printed one by one, never held all at once.
 */
static void print_open(FILE *out, struct json *object)
{
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);

	json_write(memory, object);
	fclose(memory);
	fwrite(text, 1, size - 1, out);
	free(text);
	json_free(object);
}

static void print_device(FILE *out, struct report *report, const struct findings *device,
			 const struct options *options)
{
	size_t printed = 0;
	size_t i;

	print_open(out, device_object(report, device, options));
	fputs(",\"sites\":[", out);
	for (i = 0; i < device->count && printed < findings_max; i++) {
		struct json *finding = json_finding(report, &device->items[i]);

		fputs(i ? ",\n" : "\n", out);
		printed += json_write(out, finding);
		json_free(finding);
	}
	fprintf(out, "],\"sites_left_out\":%zu}", device->count - i);
}

static void add_host_sizes(struct json *to, const char *name, bool known, uint64_t first,
			   uint64_t last, uint64_t peak)
{
	if (known) {
		add_sizes(to, name, first, last, peak);
		return;
	}
	to = json_add_object(to, name);
	json_add_null(to, "first");
	json_add_null(to, "last");
	json_add_null(to, "peak");
}

static void add_growth(struct json *to, const char *name, const struct verdict_growth *growth)
{
	if (growth->grows)
		json_add_real(to, name, growth->bytes_per_step);
	else
		json_add_null(to, name);
}

static void print_host(FILE *out, const struct report *report)
{
	const struct gpuleak_host_version *at = &report->snapshot.host;
	bool grows = report_host_label(report) == VERDICT_HOST;
	struct json *host = json_object();
	char sentence[VERDICT_SENTENCE];

	verdict_host_sentence(&report->host, sentence, sizeof(sentence));
	json_add_string(host, "verdict", grows ? verdict_name(VERDICT_HOST) : NULL);
	json_add_string(host, "evidence", grows ? sentence : NULL);
	add_host_sizes(host, "resident", at->resident, at->first_resident, at->resident,
		       at->peak_resident);
	add_growth(host, "own_bytes_per_step", &report->host.own);
	add_host_sizes(host, "pinned", at->mark, at->first_pinned, at->pinned, at->peak_pinned);
	add_growth(host, "pinned_bytes_per_step", &report->host.pinned);
	json_write(out, host);
	json_free(host);
}

/* What the rules of --suppressions did, in all traces. */
static void print_rules(FILE *out, const struct rules *rules)
{
	struct json *array = json_array();

	for (size_t i = 0; rules && i < rules->count; i++) {
		const struct rule *rule = &rules->items[i];
		struct json *object = json_add_object(array, NULL);

		json_add_string(object, "file", rule->file);
		json_add_integer(object, "line", rule->line);
		json_add_string(object, "pattern", rule->pattern);
		json_add_string(object, "reason", rule->reason);
		json_add_integer(object, "used", rule->used);
	}
	fputs(",\n\"suppressions\":", out);
	json_write(out, array);
	json_free(array);
}

/* The file that the findings are compared with. */
static void print_baseline(FILE *out, const char *path)
{
	struct json *object = json_object();

	json_add_string(object, "path", path);
	fputs(",\n\"baseline\":", out);
	if (path)
		json_write(out, object);
	else
		fputs("null", out);
	json_free(object);
}

static void print_report(FILE *out, struct report *report, const struct options *options)
{
	struct json *trace = trace_object(report);
	struct message why;

	fputs("{\"schema\":\"gpuleak-report/1\",\n\"trace\":", out);
	json_write(out, trace);
	json_free(trace);
	fprintf(out, ",\n\"verdict\":\"%s\",\n", verdict_name(report->verdict));
	fprintf(out, "\"proves_too_little\":%s,\n",
		report_proves_too_little(report, options, &why) ? "true" : "false");
	fputs("\"devices\":[", out);
	for (size_t i = 0; i < report->device_count; i++) {
		fputs(i ? ",\n" : "", out);
		print_device(out, report, &report->devices[i], options);
	}
	fputs("],\n\"host\":", out);
	print_host(out, report);
}

void json_print(FILE *out, struct report *reports, size_t count, bool several,
		const struct options *options)
{
	enum verdict gravest = VERDICT_SHORT;

	if (several)
		fputs("{\"schema\":\"gpuleak-report/1\",\"traces\":[\n", out);
	for (size_t i = 0; i < count; i++) {
		if (reports[i].verdict > gravest)
			gravest = reports[i].verdict;
		fputs(i ? ",\n" : "", out);
		print_report(out, &reports[i], options);
		if (several)
			fputs("}", out);
	}
	if (several)
		fprintf(out, "],\n\"verdict\":\"%s\"", verdict_name(gravest));
	print_rules(out, options->rules);
	print_baseline(out, options->baseline);
	fputs("}\n", out);
}
