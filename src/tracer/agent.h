/*
 * The part of the tracer that runs as Python, once: it registers the hooks of
 * torch.optim that make the steps, and reads what only Python knows.
 *
 * It runs as a pending call of the interpreter, on the main thread between two
 * bytecodes, with no lock of ours held.  Where the main thread never gets there
 * (it waits in C while another thread trains), a helper thread does it and ends.
 */
#ifndef GPULEAK_TRACER_AGENT_H
#define GPULEAK_TRACER_AGENT_H

/* Ask for the agent; PyTorch is loaded.  Not in an allocator's hook. */
void agent_request(void);

/*
 * The first GPU event came: if the agent has not run by now, a helper thread sees
 * to it.  Called once, in the hook.
 */
void agent_insist(void);

/* In a child after fork. */
void agent_forget(void);

#endif
