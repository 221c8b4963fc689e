#include <string.h>

#include "report/escape.h"
#include "report/forecast.h"
#include "report/sparkline.h"
#include "report/text.h"

static const size_t indent = 8; /* columns */

bool text_finding_shown(const struct findings *device, const struct finding *finding)
{
	if (finding_suppressed(finding))
		return false;
	if (finding->label >= VERDICT_JUMP || finding->rule)
		return true;
	return finding->label == device->verdict.label && finding->label != VERDICT_STABLE;
}

size_t text_suppressed_count(const struct findings *device)
{
	size_t count = 0;

	for (size_t i = 0; i < device->count; i++)
		count += finding_suppressed(&device->items[i]);
	return count;
}

void text_device_sentence(const struct findings *device, char *sentence, size_t size)
{
	char forecast[FORECAST_SIZE];

	if (device->verdict.label == VERDICT_DRIVER)
		verdict_driver_sentence(&device->driver, sentence, size);
	else if (forecast_text(device, forecast)[0])
		snprintf(sentence, size, "%s", forecast);
	else
		verdict_device_sentence(&device->verdict, sentence, size);
}

static void print_sizes(const struct terminal *terminal, const struct findings *device)
{
	const struct gpuleak_device_version *at = &device->device->at;
	char first[32], last[32], reserved[32], peak[32];

	terminal_space(terminal, indent);
	fprintf(terminal->out, "allocated %s → %s   reserved %s   peak %s",
		verdict_size_text((double)at->first_allocated, first, sizeof(first)),
		verdict_size_text((double)at->allocated, last, sizeof(last)),
		verdict_size_text((double)at->reserved, reserved, sizeof(reserved)),
		verdict_size_text((double)at->peak, peak, sizeof(peak)));
	if (at->outside)
		fprintf(terminal->out, "   outside PyTorch %s",
			verdict_size_text((double)at->outside, first, sizeof(first)));
	fputc('\n', terminal->out);
}

static void print_curve(const struct terminal *terminal, const struct findings *device)
{
	static const char *const what = "  allocated at the end of each step";
	size_t columns = terminal->width - indent - strlen(what);

	if (device->device->timeline_count < 2)
		return;
	terminal_space(terminal, indent);
	sparkline_print(terminal->out, device->device->timeline, device->device->timeline_count,
			columns < 60 ? columns : 60);
	fprintf(terminal->out, "%s\n", what);
}

static void print_headline(const struct terminal *terminal, const struct report *report,
			   const struct findings *device)
{
	const struct names *names = &report->snapshot.names;
	struct text name = names_text(names, device->device->name);
	char sentence[VERDICT_SENTENCE], size[32];

	fprintf(terminal->out, "cuda:%u  ", device->device->device);
	terminal_label(terminal, device->verdict.label);
	if (report->device_count > 1) {
		text_device_sentence(device, sentence, sizeof(sentence));
		escape_print(terminal->out, (struct text){sentence, strlen(sentence)});
		fputs("   ", terminal->out);
	}
	escape_print_cut(terminal->out, name, 60);
	if (device->device->capacity)
		fprintf(terminal->out, "%s%s", name.size ? ", " : "",
			verdict_size_text((double)device->device->capacity, size, sizeof(size)));
	fputc('\n', terminal->out);
}

/* "Not leaks: 14 sites STABLE, 2 PLATEAU.  --all shows them." */
static void print_rest(const struct terminal *terminal, const struct findings *device,
		       const uint64_t rest[VERDICT_COUNT])
{
	const char *between = "Not leaks: ";
	char count[32];
	bool any = false;

	for (unsigned label = 0; label < VERDICT_COUNT; label++) {
		uint64_t sites = rest[label] + (label == VERDICT_STABLE ? device->quiet : 0);

		if (!sites)
			continue;
		fprintf(terminal->out, "%s%s %s%s", between,
			verdict_count_text(sites, count, sizeof(count)),
			any	     ? ""
			: sites == 1 ? "site "
				     : "sites ",
			verdict_name((enum verdict)label));
		between = ", ";
		any = true;
	}
	if (any)
		fputs(".  --all shows them.\n", terminal->out);
}

/* What rules suppress, with their reasons: nothing is hidden without a word. */
static void print_suppressed(const struct terminal *terminal, const struct report *report,
			     const struct findings *device, const struct options *options)
{
	size_t max = (size_t)options->max_findings;
	size_t shown = 0;

	if (!text_suppressed_count(device))
		return;
	fputs("Suppressed, and not counted:\n", terminal->out);
	for (size_t i = 0; i < device->count; i++)
		if (finding_suppressed(&device->items[i]) && shown++ < max)
			text_suppressed(terminal, report, &device->items[i]);
	if (shown > max)
		fprintf(terminal->out, "     and %zu more\n", shown - max);
	fputc('\n', terminal->out);
}

/* What this trace can't tell. */
static void print_limits(const struct terminal *terminal, const struct findings *device)
{
	const struct verdict_device *verdict = &device->verdict;
	char count[32];

	if (verdict->label == VERDICT_LEAK && verdict->bound_unknown)
		fputs("Bound unknown: a buffer that is still filling looks the same.\n",
		      terminal->out);
	if (verdict->label == VERDICT_SAWTOOTH && device->device->capacity)
		fprintf(terminal->out, "A tooth of twice the height would %s into %s.\n",
			verdict->reaches_ceiling ? "not fit" : "fit",
			verdict_size_text((double)device->device->capacity, count, sizeof(count)));
	if (verdict->label != VERDICT_LEAK && verdict->longest_period > 1)
		fprintf(terminal->out,
			"Leaks rarer than once in %s steps can't be seen in so short a run.\n",
			verdict_count_text(verdict->longest_period, count, sizeof(count)));
}

static void print_findings(const struct terminal *terminal, struct report *report,
			   const struct findings *device, const struct options *options)
{
	const size_t all_max = 10000;
	size_t max = options->all ? all_max : (size_t)options->max_findings;
	uint64_t rest[VERDICT_COUNT] = {0};
	size_t shown = 0, more = 0;

	for (size_t i = 0; i < device->count; i++) {
		const struct finding *finding = &device->items[i];

		if (!options->all && !text_finding_shown(device, finding)) {
			if (!finding_suppressed(finding))
				rest[finding->label] += finding->parts;
		} else if (shown < max) {
			if (!shown)
				fputc('\n', terminal->out);
			text_finding(terminal, report, device, finding, ++shown);
		} else {
			more++;
		}
	}
	if (more)
		fprintf(terminal->out, "     and %zu more\n", more);
	fputc('\n', terminal->out);
	if (!options->all)
		print_suppressed(terminal, report, device, options);
	if (!options->all)
		print_rest(terminal, device, rest);
	print_limits(terminal, device);
}

void text_device(const struct terminal *terminal, struct report *report,
		 const struct findings *device, const struct options *options)
{
	print_headline(terminal, report, device);
	print_sizes(terminal, device);
	print_curve(terminal, device);
	if (device->verdict.stranded)
		text_segments(terminal, report, device, false);
	text_oom(terminal, report, device);
	if (options->peak)
		text_peak(terminal, report, device, options);
	print_findings(terminal, report, device, options);
	text_tail(terminal, report, device);
}
