#include "report/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The exit code of "no report". */
void memory_ended(void)
{
	fputs("gpuleak-report: out of memory\n", stderr);
	exit(2);
}

void *memory_new(size_t count, size_t item_size)
{
	void *memory = calloc(count ? count : 1, item_size ? item_size : 1);

	if (!memory)
		memory_ended();
	return memory;
}

void *memory_grow(void *old, size_t count, size_t item_size)
{
	void *memory = reallocarray(old, count ? count : 1, item_size);

	if (!memory)
		memory_ended();
	return memory;
}
