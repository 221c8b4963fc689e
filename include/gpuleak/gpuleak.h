/*
 * Marks for programs that want to tell gpuleak where their steps end.
 *
 * Not needed for a PyTorch training: there the steps come from the optimizer.
 * Everything here is safe to call from any thread at any time, takes no lock of
 * CUDA's or PyTorch's, never fails, and keeps errno.
 *
 * The functions live in libgpuleak.so, which is preloaded.  A program that shall
 * also run without it looks them up at run time:
 *
 *   C        void (*step)(void) = dlsym(RTLD_DEFAULT, "gpuleak_step");
 *            if (step) step();
 *   Python   step = getattr(ctypes.CDLL(None), "gpuleak_step", lambda: None)
 */
#ifndef GPULEAK_GPULEAK_H
#define GPULEAK_GPULEAK_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * End a step: one turn of the loop that should leave no memory behind.  From the
 * first call on these calls alone are the clock, and optimizers no longer count.
 */
void gpuleak_step(void);

/*
 * Name the phase that begins here ("train", "eval"), for the report.  Ends no step.
 * `phase` is copied, up to 255 bytes; NULL is ignored.
 */
void gpuleak_mark(const char *phase);

/*
 * Stop recording, and go on.  Not nested.  In between, allocations are only passed on:
 * nothing is known of them later.  Blocks that were recorded before are freed as ever, and
 * no step ends.
 */
void gpuleak_pause(void);
void gpuleak_resume(void);

#ifdef __cplusplus
}
#endif

#endif
