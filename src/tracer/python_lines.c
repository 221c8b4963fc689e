#include "tracer/python_lines.h"

#include <stdbool.h>

#include "tracer/banned.h"

/* Where in the table we are, and what holds there. */
struct scan {
	const uint8_t *next, *end;
	int64_t address; /* bytes of bytecode up to the current entry's end */
	int64_t line;	 /* running line, moved by every entry; broken tables can't overflow it */
};

/* Up to 3.9: pairs of a step in the bytecode and the step in lines that follows it. */
static int64_t line_from_lnotab(struct scan *scan, int64_t offset)
{
	for (; scan->end - scan->next >= 2; scan->next += 2) {
		scan->address += scan->next[0];
		if (scan->address > offset)
			break;
		scan->line += (int8_t)scan->next[1];
	}
	return scan->line;
}

/* 3.10: pairs of a length in bytecode and the line step to it; -128 has no line. */
static int64_t line_from_table(struct scan *scan, int64_t offset)
{
	for (; scan->end - scan->next >= 2; scan->next += 2) {
		int8_t step = (int8_t)scan->next[1];

		if (step != -128)
			scan->line += step;
		scan->address += scan->next[0];
		if (scan->address > offset)
			break;
	}
	return scan->line;
}

/* Six bits a byte, low ones first; bit 6 says that more follow. */
static uint32_t take_varint(struct scan *scan)
{
	uint32_t value = 0;
	uint8_t byte = 0x40;

	for (unsigned shift = 0; byte & 0x40 && shift < 32 && scan->next < scan->end; shift += 6) {
		byte = *scan->next++;
		value |= (uint32_t)(byte & 0x3f) << shift;
	}
	return value;
}

static int32_t take_signed(struct scan *scan)
{
	uint32_t value = take_varint(scan);
	int32_t magnitude = (int32_t)(value >> 1);

	return value & 1 ? -magnitude : magnitude;
}

/* Read an entry's first byte and line step, and skip its columns. */
static void take_location(struct scan *scan)
{
	uint8_t head = *scan->next++;
	unsigned kind = head >> 3 & 15;

	if (kind == 13 || kind == 14)
		scan->line += take_signed(scan);
	else if (kind >= 10 && kind <= 12)
		scan->line += (int32_t)kind - 10;
	scan->address += 2L * ((head & 7) + 1);

	/* Only an entry's first byte has bit 7 set. */
	while (scan->next < scan->end && !(*scan->next & 0x80))
		scan->next++;
}

/* 3.11 and later. */
static int64_t line_from_locations(struct scan *scan, int64_t offset)
{
	while (scan->next < scan->end && scan->address <= offset)
		take_location(scan);
	return scan->line;
}

int32_t python_line(const struct python_lines *lines, int64_t offset)
{
	struct scan scan = {
		.next = lines->table,
		.end = lines->table + lines->size,
		.line = lines->first_line,
	};

	switch (lines->format) {
	case PYTHON_LINES_LNOTAB:
		return (int32_t)line_from_lnotab(&scan, offset);
	case PYTHON_LINES_TABLE:
		return (int32_t)line_from_table(&scan, offset);
	case PYTHON_LINES_LOCATIONS:
		return (int32_t)line_from_locations(&scan, offset);
	}
	return lines->first_line;
}
