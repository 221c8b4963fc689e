/*
 * Writes a trace that is not mapped: in memory it is like a mapped one, and a thread
 * writes it to the file at marks, outside any lock.  Whatever the disk does, marks and
 * hooks don't wait for it.
 *
 * The thread lives while there are marks to write, at most so often that it takes a tenth
 * of one core.  Before a fork it ends: Python from 3.12 on warns of forks with threads.  Marks
 * that came before are written first, since none may come after: but only where a writing takes
 * less than a tenth of a second, and for a tenth of the time at most.
 */
#ifndef GPULEAK_TRACER_SLOTS_H
#define GPULEAK_TRACER_SLOTS_H

#include <stdbool.h>

/*
 * After trace_writer_init(): write the first image, in this thread.  False without memory.
 * Nothing to do, here and below, where the trace is mapped.  Keeps errno.
 */
bool slots_begin(void);

/*
 * There is a new mark.  Any thread, without a lock of ours.  May start a thread, also in a
 * hook, which takes some 50 us and some heap; never again while marks go on.  Keeps errno.
 */
void slots_marked(void);

/* The process ends: write all there is.  Waits at most two seconds for the disk. */
void slots_finish(void);

/*
 * The process ends without slots_finish(), or becomes another one: marks that aren't written yet
 * are, if the disk takes them within a fifth of a second.  Not when a fork has ended the thread
 * and no mark come since: then all is written, or the disk was too slow for the fork to wait.
 * May be called from a signal handler, and in a child of vfork(), where it does nothing.
 */
void slots_leave(void);

/* Before and after a fork, in the parent; `forget` in the child. */
void slots_fork_begins(void);
void slots_fork_ended(void);
void slots_forget(void);

#endif
