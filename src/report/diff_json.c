/* Two runs side by side, as JSON. */
#include "report/diff.h"
#include "report/json_finding.h"
#include "report/json_value.h"

static void add_run(struct json *to, const char *name, const struct report *report)
{
	struct json *run = json_add_object(to, name);

	json_add_string(run, "path", report->path);
	json_add_integer(run, "steps", report->snapshot.steps);
	json_add_string(run, "verdict", verdict_name(report->verdict));
}

static void add_sizes(struct json *to, const char *name, bool used, const struct diff_sizes *sizes)
{
	struct json *object;

	if (!used) {
		json_add_null(to, name);
		return;
	}
	object = json_add_object(to, name);
	json_add_integer(object, "allocated", sizes->allocated);
	json_add_integer(object, "peak", sizes->peak);
	json_add_integer(object, "reserved", sizes->reserved);
}

static void add_verdict(struct json *to, const char *name, const struct findings *findings)
{
	json_add_string(to, name, findings ? verdict_name(findings->verdict.label) : NULL);
}

static void print_device(FILE *out, const struct diff_device *device)
{
	struct json *object = json_object();
	struct json *verdict = json_add_object(object, "verdict");
	struct json *sizes = json_add_object(object, "sizes");

	add_verdict(verdict, "before", device->before);
	add_verdict(verdict, "after", device->after);
	json_add_integer(sizes, "step", device->step);
	add_sizes(sizes, "before", device->before, &device->sizes_before);
	add_sizes(sizes, "after", device->after, &device->sizes_after);
	fprintf(out, "{\"device\":%u,\"summary\":", device->device);
	json_write(out, object);
	json_free(object);
}

static void print_finding(FILE *out, const char *name, struct report *report,
			  const struct finding *finding)
{
	struct json *object;

	fprintf(out, ",\"%s\":", name);
	if (!finding) {
		fputs("null", out);
		return;
	}
	object = json_finding(report, finding);
	json_write(out, object);
	json_free(object);
}

void diff_print_json(FILE *out, struct diff *diff)
{
	struct json *runs = json_object();

	add_run(runs, "before", diff->before);
	add_run(runs, "after", diff->after);
	fputs("{\"schema\":\"gpuleak-diff/1\",\n\"runs\":", out);
	json_write(out, runs);
	json_free(runs);
	fputs(",\n\"devices\":[", out);
	for (size_t i = 0; i < diff->device_count; i++) {
		const struct diff_device *device = &diff->devices[i];

		fputs(i ? ",\n" : "", out);
		print_device(out, device);
		fputs(",\"changes\":[", out);
		for (size_t k = 0; k < device->count; k++) {
			const struct change *change = &device->items[k];

			fprintf(out, "%s{\"change\":\"%s\"", k ? ",\n" : "\n", change_name(change));
			print_finding(out, "before", diff->before, change->before);
			print_finding(out, "after", diff->after, change->after);
			fputs("}", out);
		}
		fputs("]}", out);
	}
	fputs("]}\n", out);
}
