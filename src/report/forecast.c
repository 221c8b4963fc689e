#include "report/forecast.h"

#include <stdio.h>
#include <string.h>

#include "report/units.h"

/* "1,850 to 1,921", as sure as the rate is. */
static void add_range(const struct verdict_device *verdict, char *buffer, size_t size)
{
	char low[32], high[32];

	verdict_count_text(verdict->full_at_step_low, low, sizeof(low));
	if (verdict->full_at_step_high)
		snprintf(buffer, size, " (%s to %s)", low,
			 verdict_count_text(verdict->full_at_step_high, high, sizeof(high)));
	else
		snprintf(buffer, size, " (%s at the earliest)", low);
}

const char *forecast_text(const struct findings *device, char buffer[FORECAST_SIZE])
{
	const struct verdict_device *verdict = &device->verdict;
	char size[32], step[32], duration[UNITS_SIZE];
	size_t used;

	buffer[0] = '\0';
	if (verdict->label != VERDICT_LEAK && verdict->label != VERDICT_GROWING)
		return buffer;
	snprintf(buffer, FORECAST_SIZE, "%s a step",
		 verdict_size_text(verdict->bytes_per_step, size, sizeof(size)));
	used = strlen(buffer);
	if (verdict->named.steps_missing)
		snprintf(buffer + used, FORECAST_SIZE - used,
			 "; a verdict needs about %s more step%s",
			 verdict_count_text(verdict->named.steps_missing, step, sizeof(step)),
			 verdict->named.steps_missing == 1 ? "" : "s");
	if (!verdict->full_at_step)
		return buffer;
	used = strlen(buffer);
	snprintf(buffer + used, FORECAST_SIZE - used, "; %s full at about step %s",
		 verdict_size_text((double)device->device->capacity, size, sizeof(size)),
		 verdict_count_text(verdict->full_at_step, step, sizeof(step)));
	used = strlen(buffer);
	add_range(verdict, buffer + used, FORECAST_SIZE - used);
	if (verdict->full_in_seconds <= 0)
		return buffer;
	used = strlen(buffer);
	snprintf(buffer + used, FORECAST_SIZE - used, ", in %s at this pace",
		 units_duration(verdict->full_in_seconds, duration));
	return buffer;
}
