/*
 * One line that says what went wrong, whole enough to print as it stands.
 */
#ifndef GPULEAK_REPORT_MESSAGE_H
#define GPULEAK_REPORT_MESSAGE_H

struct message {
	char text[512]; /* cut where it doesn't fit; always ends in a NUL */
};

/* Fill in `message`.  Returns -1, so that a failing function can return it. */
int message_set(struct message *message, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The same, with errno's meaning behind it. */
int message_errno(struct message *message, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
