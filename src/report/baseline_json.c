/* A report in JSON as a baseline.  Believes nothing: the file may hold any bytes. */
#include <string.h>

#include "report/baseline.h"
#include "report/json_value.h"

/* Upper-case names are those of the report. */
static bool label_by_name(const char *name, enum verdict *label)
{
	for (unsigned i = 0; i < VERDICT_COUNT; i++) {
		if (strcmp(name, verdict_name((enum verdict)i)) == 0) {
			*label = (enum verdict)i;
			return true;
		}
	}
	return false;
}

static bool get_label(const struct json *object, enum verdict *label)
{
	const char *name = json_string(json_get(object, "verdict"));

	return name && label_by_name(name, label);
}

static void add_site(struct baseline *baseline, const struct json *site)
{
	const char *key = json_string(json_get(site, "key"));
	struct baseline_entry entry = {.source = baseline->sources};

	if (!key || !get_label(site, &entry.label))
		return;
	entry.key = (char *)(uintptr_t)key;
	entry.amount = baseline_amount(entry.label, json_number(json_get(site, "bytes_per_step")),
				       json_number(json_get(site, "bytes")));
	baseline_add(baseline, &entry);
}

static void add_device(struct baseline *baseline, const struct json *device)
{
	const struct json *site = json_first(json_get(device, "sites"));
	enum verdict label;

	if (get_label(device, &label))
		baseline->device_labels |= 1u << label;
	for (; site; site = json_next(site))
		add_site(baseline, site);
	baseline->sources++;
}

static int add_report(struct baseline *baseline, const struct json *report, struct message *why)
{
	const char *schema = json_string(json_get(report, "schema"));
	const struct json *devices = json_get(report, "devices");
	enum verdict host;
	double steps = json_number(json_get(json_get(report, "trace"), "steps"));

	if (!schema || strcmp(schema, "gpuleak-report/1") != 0 || !devices)
		return message_set(why, "%s: not a report of gpuleak-report", baseline->path);
	if (get_label(json_get(report, "host"), &host) && host == VERDICT_HOST)
		baseline->host = true;
	if (steps >= 0 && steps < 0x1p53 && (uint64_t)steps > baseline->steps)
		baseline->steps = (uint64_t)steps;
	for (const struct json *device = json_first(devices); device; device = json_next(device))
		add_device(baseline, device);
	return 0;
}

int baseline_read_json(struct baseline *baseline, const char *bytes, size_t size,
		       struct message *why)
{
	struct json *whole = json_read(bytes, size);
	const struct json *traces = json_get(whole, "traces");
	int ret = 0;

	if (!whole)
		return message_set(why, "%s: neither a trace nor a report in JSON", baseline->path);
	if (!traces)
		ret = add_report(baseline, whole, why);
	for (const struct json *one = json_first(traces); one && ret == 0; one = json_next(one))
		ret = add_report(baseline, one, why);
	json_free(whole);
	return ret;
}
