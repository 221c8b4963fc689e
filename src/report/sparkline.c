#include "report/sparkline.h"

#include <stdint.h>

enum {
	HEIGHTS = 8
};

static const char *const blocks[HEIGHTS] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

/* The mean over the entries that column `i` of `columns` stands for. */
static double column_mean(const struct gpuleak_timeline_entry *entries, size_t count, size_t i,
			  size_t columns)
{
	size_t first = i * count / columns;
	size_t end = (i + 1) * count / columns;
	double sum = 0;

	for (size_t at = first; at < end; at++)
		sum += (double)entries[at].allocated;
	return sum / (double)(end - first);
}

void sparkline_print(FILE *out, const struct gpuleak_timeline_entry *entries, size_t count,
		     size_t columns)
{
	double low = 0, high = 0;

	if (columns > count)
		columns = count;
	for (size_t i = 0; i < columns; i++) {
		double value = column_mean(entries, count, i, columns);

		low = !i || value < low ? value : low;
		high = !i || value > high ? value : high;
	}
	if (high < low * 1.05)
		high = low * 1.05;
	for (size_t i = 0; i < columns; i++) {
		double value = column_mean(entries, count, i, columns);
		double share = high > low ? (value - low) / (high - low) : 0;

		fputs(blocks[(unsigned)(share * (HEIGHTS - 1) + 0.5)], out);
	}
}
