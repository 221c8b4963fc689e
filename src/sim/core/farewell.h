#ifndef SIM_CORE_FAREWELL_H
#define SIM_CORE_FAREWELL_H

/*
 * A calm end for Python programs.
 *
 * PyTorch's autograd threads let go of the last backward pass's Python objects after backward() has
 * returned.  If the interpreter begins to shut down before they have, CPython up to 3.13 ends those
 * threads in the middle, and the process aborts ("terminate called without an active exception").
 * A GPU that takes time hides that; ours takes none.  So once a program uses the simulated GPU we
 * register a Python atexit function that waits, without the GIL, until the threads which have used
 * CUDA rest: nothing runs, and nothing has run since the look before.
 */

/* The calling thread uses CUDA, for the first time. */
void gpusim_farewell_watch(void);

#endif
