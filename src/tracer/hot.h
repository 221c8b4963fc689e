/*
 * What every event runs through and looks at, put side by side: PyTorch's work between two
 * events pushes all of it out of the first-level TLBs, and each page more is some ns more.
 */
#ifndef GPULEAK_TRACER_HOT_H
#define GPULEAK_TRACER_HOT_H

/* A function of the hook's usual way. */
#define HOT_CODE __attribute__((hot))

/* A variable that the hook reads or writes each time.  A name of its own, so that the linker
 * puts all of them together. */
#define HOT_DATA __attribute__((section("gpuleak_hot")))

#endif
