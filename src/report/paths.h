/*
 * File names as a trace has them, made whole.  By their text alone: the files
 * may be on another machine.
 */
#ifndef GPULEAK_REPORT_PATHS_H
#define GPULEAK_REPORT_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#include "report/names.h"

enum {
	PATH_SIZE = 4096 /* bytes that hold a path, its NUL included; longer ones are cut */
};

/*
 * Write `file` to `path`, joined to `folder` where it is relative, without "." and
 * ".." parts.  A file that is none ("<stdin>") stays as it is.  NUL bytes become '?'.
 */
void path_absolute(char path[PATH_SIZE], struct text folder, struct text file);

/*
 * Write `file` as seen from `folder`; both absolute.  Where the two share nothing:
 * the last two parts of it.
 */
void path_relative(char path[PATH_SIZE], const char *folder, const char *file);

/* Cut the last part of a path off, in place: "/a/b" becomes "/a". */
void path_parent(char *path);

/* What stands behind `folder` and a slash at the start of `path`, or NULL. */
const char *path_below(const char *path, struct text folder);

#endif
