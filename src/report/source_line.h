/*
 * The text of a line of the traced program, where its file is still at hand.
 */
#ifndef GPULEAK_REPORT_SOURCE_LINE_H
#define GPULEAK_REPORT_SOURCE_LINE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Line `line` of the Python file at `path`, without the blanks around it; owned by
 * the caller.  NULL when there is no such line, the file changed after `started`
 * (ns since 1970), or it is no file ending in .py: the path comes from a trace.
 */
char *source_line(const char *path, uint32_t line, uint64_t started);

#endif
