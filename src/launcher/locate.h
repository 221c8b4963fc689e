/* Where the parts of gpuleak lie, seen from the launcher's own place. */
#ifndef GPULEAK_LAUNCHER_LOCATE_H
#define GPULEAK_LAUNCHER_LOCATE_H

/* Absolute paths of files that exist, or NULL.  Owned. */
struct parts {
	char *tracer; /* libgpuleak.so */
	char *report; /* gpuleak-report */
	char *sim;    /* libgpuleak-sim.so; the stand-ins are in lib/ beside it */
};

void parts_find(struct parts *parts);
void parts_release(struct parts *parts);

/* Say that the part of this file name is not there, and where it should be. */
void part_missing(const char *file);

#endif
