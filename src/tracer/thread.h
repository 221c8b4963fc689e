/*
 * What each thread has of ours: memory for one stack, the device it last chose.
 */
#ifndef GPULEAK_TRACER_THREAD_H
#define GPULEAK_TRACER_THREAD_H

#include "tracer/stack.h"

/* Make the key that gives a thread's memory back at its end.  From the constructor. */
void thread_init(void);

/* The calling thread's memory for a stack, taken on first use; NULL: no memory. */
struct stack *thread_stack(void);

/* The device of the thread's last cudaSetDevice(); 0 before. */
extern _Thread_local int thread_device __attribute__((tls_model("initial-exec")));

#endif
