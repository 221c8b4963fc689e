/* Paths that LD_PRELOAD and LD_AUDIT can hold. */
#ifndef GPULEAK_LAUNCHER_LOADER_PATH_H
#define GPULEAK_LAUNCHER_LOADER_PATH_H

/*
 * The loader splits its lists at spaces and colons and expands '$'.  A path
 * without them comes back as it is; any other one through a symbolic link to its
 * folder, which stays there for the program's children and for later runs.
 * Owned by the caller.  NULL after saying why there is none.
 */
char *loader_path(const char *path);

#endif
