/* What the launcher says on stderr, and text on the heap. */
#ifndef GPULEAK_LAUNCHER_SAY_H
#define GPULEAK_LAUNCHER_SAY_H

#include <stddef.h>

/* One line, after "gpuleak: ".  Control characters of names in it are shown as '?'. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Printed text.  Owned by the caller; ends the launcher when memory is out. */
char *text_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Control characters of `text` become '?', so that a terminal can show it. */
void text_tame(char *text);

/* A list of texts, in the order of names_add(). */
struct names {
	char **items; /* owned, and each text too; NULL-terminated once there is one */
	size_t count;
};

/* Takes over `text`. */
void names_add(struct names *names, char *text);
void names_release(struct names *names);

#endif
