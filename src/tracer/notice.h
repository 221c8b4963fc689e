/*
 * What the tracer says on stderr: little, each thing once, with plain write(2).
 */
#ifndef GPULEAK_TRACER_NOTICE_H
#define GPULEAK_TRACER_NOTICE_H

/*
 * One line: "gpuleak: " and the parts up to a NULL, joined.  Any thread; no heap,
 * no stdio; keeps errno.  Silent with GPULEAK_QUIET=1.
 */
void notice_say(const char *part, ...) __attribute__((sentinel));

#endif
