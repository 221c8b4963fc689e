/*
 * Which file systems a trace may be mapped on.
 */
#ifndef GPULEAK_TRACER_FILE_SYSTEM_H
#define GPULEAK_TRACER_FILE_SYSTEM_H

#include <stdbool.h>

/*
 * True when the file lies on a local file system that we know: a store into a mapping of
 * it never waits for a network or for another process, and what is stored survives this
 * process.  Keeps errno.
 */
bool file_system_is_local(int fd);

#endif
