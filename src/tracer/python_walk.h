/* Switches the walk of python_stack_walk() on and off. */
#ifndef GPULEAK_TRACER_PYTHON_WALK_H
#define GPULEAK_TRACER_PYTHON_WALK_H

/* python_runtime is whole: walk, after a check of the first thread and frames seen. */
void python_walk_begin(void);

/* Every walk says PYTHON_STACK_NONE from now on. */
void python_walk_end(void);

#endif
