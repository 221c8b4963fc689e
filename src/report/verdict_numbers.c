/* Numbers and sizes as sentences have them. */
#include <stdio.h>
#include <string.h>

#include "report/verdict.h"

const char *verdict_count_text(uint64_t count, char *buffer, size_t size)
{
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count);
	size_t used = 0;

	for (int i = 0; i < length && used + 2 < size; i++) {
		if (i && (length - i) % 3 == 0)
			buffer[used++] = ',';
		buffer[used++] = digits[i];
	}
	if (size)
		buffer[used] = '\0';
	return buffer;
}

const char *verdict_size_text(double bytes, char *buffer, size_t size)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
	size_t unit = 0;

	if (!(bytes >= 0))
		bytes = 0;
	while (bytes >= 1023.5 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		bytes /= 1024;
		unit++;
	}
	if (unit == 0 || bytes >= 99.95)
		snprintf(buffer, size, "%.0f %s", bytes, units[unit]);
	else
		snprintf(buffer, size, bytes < 9.95 && unit > 1 ? "%.2f %s" : "%.1f %s", bytes,
			 units[unit]);
	return buffer;
}
