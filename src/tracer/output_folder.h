/*
 * The names in a folder, read without heap.
 */
#ifndef GPULEAK_TRACER_OUTPUT_FOLDER_H
#define GPULEAK_TRACER_OUTPUT_FOLDER_H

#include <stdbool.h>

/*
 * Call `visit` with each name, some thirty thousand at most, until it says false.  `folder` is
 * an open descriptor.  start_lock is held.
 */
void output_folder_each(int folder, bool (*visit)(int folder, const char *name, void *data),
			void *data);

#endif
