/*
 * What stands in front of _exit() and execve(): see hook_exit.c.
 */
#ifndef GPULEAK_TRACER_HOOK_EXIT_H
#define GPULEAK_TRACER_HOOK_EXIT_H

/* In the constructor only: takes the loader's lock. */
void hook_exit_open(void);

#endif
