/*
 * Which code objects stand in known stacks.  When one dies its address may come
 * back as another function's, so the fast look-up by addresses starts anew.
 */
#ifndef GPULEAK_TRACER_CODE_WATCH_H
#define GPULEAK_TRACER_CODE_WATCH_H

/* Begin to hear of dying code objects.  The GIL is held. */
void code_watch_start(void);

/* `code` stands in a stack that is known from now on.  Any thread; no lock. */
void code_watch_seen(const void *code);

#endif
