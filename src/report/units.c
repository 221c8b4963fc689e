#include "report/units.h"

#include <stdio.h>
#include <time.h>

const char *units_duration(double seconds, char buffer[UNITS_SIZE])
{
	static const struct {
		double seconds;
		const char *name;
	} units[] = {{86400 * 365.25, "years"}, {86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
	const unsigned last = sizeof(units) / sizeof(units[0]) - 1;
	unsigned i = 0;
	double whole, rest;

	if (!(seconds >= 10)) {
		snprintf(buffer, UNITS_SIZE, "%.1f s", seconds > 0 ? seconds : 0);
		return buffer;
	}
	seconds += 0.5;
	while (i < last && seconds < units[i].seconds)
		i++;
	whole = seconds / units[i].seconds;
	if (i == 0) {
		snprintf(buffer, UNITS_SIZE, whole < 1000 ? "%.1f years" : "many years", whole);
		return buffer;
	}
	whole = (double)(uint64_t)whole;
	rest = i < last ? (seconds - whole * units[i].seconds) / units[i + 1].seconds : 0;
	if (rest >= 1 && whole < 20)
		snprintf(buffer, UNITS_SIZE, "%.0f %s %u %s", whole, units[i].name, (unsigned)rest,
			 units[i + 1].name);
	else
		snprintf(buffer, UNITS_SIZE, "%.0f %s", whole, units[i].name);
	return buffer;
}

const char *units_date(uint64_t ns, char buffer[UNITS_SIZE])
{
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm date;

	if (!gmtime_r(&seconds, &date) ||
	    !strftime(buffer, UNITS_SIZE, "%Y-%m-%dT%H:%M:%SZ", &date))
		snprintf(buffer, UNITS_SIZE, "?");
	return buffer;
}
