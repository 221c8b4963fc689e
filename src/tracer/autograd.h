/*
 * PyTorch's autograd engine.
 */
#ifndef GPULEAK_TRACER_AUTOGRAD_H
#define GPULEAK_TRACER_AUTOGRAD_H

#include <stdbool.h>

/*
 * The calling thread runs a backward pass: what ends or is replayed there is part of it
 * (checkpointing, graphed callables).  Any thread.
 */
bool autograd_runs(void);

#endif
