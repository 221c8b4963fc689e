/*
 * PyTorch's autograd engine: where a backward pass begins and ends, and which threads run it.
 * libtorch_python calls execute() for backward() and grad(), with no lock held and without the
 * GIL, and thread_init() as the whole life of a thread that autograd makes for a device.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/autograd.h"
#include "tracer/backward_pass.h"
#include "tracer/guard.h"
#include "tracer/native_stack.h"
#include "tracer/real.h"
#include "tracer/steps.h"

#include "tracer/banned.h"

#define EXPORT __attribute__((visibility("default")))

/* torch::autograd::Engine::execute(edge_list, variable_list, bool, bool, bool, edge_list) */
#define EXECUTE \
	_ZN5torch8autograd6Engine7executeERKSt6vectorINS0_4EdgeESaIS3_EERKS2_IN2at6TensorESaIS9_EEbbbS7_
#define REAL_EXECUTE \
	REAL__ZN5torch8autograd6Engine7executeERKSt6vectorINS0_4EdgeESaIS3_EERKS2_IN2at6TensorESaIS9_EEbbbS7_

/* torch::autograd::Engine::thread_init(int, std::shared_ptr<ReadyQueue>, bool) */
#define THREAD_INIT _ZN5torch8autograd6Engine11thread_initEiRKSt10shared_ptrINS0_10ReadyQueueEEb
#define REAL_THREAD_INIT \
	REAL__ZN5torch8autograd6Engine11thread_initEiRKSt10shared_ptrINS0_10ReadyQueueEEb

/* std::vector<at::Tensor>: returned in memory, and moved by copying its three words. */
struct variable_list {
	void *words[3];
};

EXPORT struct variable_list EXECUTE(void *engine, const void *roots, const void *inputs,
				    bool keep_graph, bool create_graph, bool accumulate_grad,
				    const void *outputs);
EXPORT void THREAD_INIT(void *engine, int device, const void *queue, bool counts);
int hook_autograd_unwinds(int version, int actions, uint64_t kind, void *exception, void *context);

/* The task's number is -1 on a thread that runs no backward pass. */
bool autograd_runs(void)
{
	static _Atomic(void *) found;
	int (*current)(void) = atomic_load(&found);
	int saved = errno;
	bool runs;

	if (!current) {
		current = native_find_export("libtorch",
					     "_ZN5torch8autograd25get_current_graph_task_idEv");
		atomic_store(&found, current);
	}
	runs = current && current() != -1;
	errno = saved;
	return runs;
}

/*
 * Called by whoever unwinds the stack for an exception that goes through our frame, once to ask
 * whether it is caught here and once more when the frame goes.  C can't say that to the compiler:
 * -fexceptions would have libgcc_s do it, and the library needs libc alone.
 */
__attribute__((used, visibility("hidden"))) int
hook_autograd_unwinds(int version, int actions, uint64_t kind, void *exception, void *context)
{
	enum {
		CLEANUP_PHASE = 2,
		CONTINUE_UNWIND = 8,
	};

	(void)version, (void)kind, (void)exception, (void)context;
	if ((actions & CLEANUP_PHASE) && !autograd_runs())
		backward_ends();
	return CONTINUE_UNWIND;
}

/* The function that this stands in is unwound as said above.  0x1b: relative, in four bytes. */
#ifdef __GCC_HAVE_DWARF2_CFI_ASM
#define UNWINDS() __asm__ volatile(".cfi_personality 0x1b, hook_autograd_unwinds")
#else
#define UNWINDS() ((void)0)
#endif

/* False for a pass within another one: under checkpointing, of graphed callables. */
static bool begins(const uintptr_t *frame)
{
	bool outermost = tracer_enter() && !autograd_runs();

	if (outermost)
		backward_begins(frame);
	tracer_leave();
	return outermost;
}

EXPORT struct variable_list EXECUTE(void *engine, const void *roots, const void *inputs,
				    bool keep_graph, bool create_graph, bool accumulate_grad,
				    const void *outputs) {
	struct variable_list (*real)(void *, const void *, const void *, bool, bool, bool,
				     const void *) = real_find(REAL_EXECUTE);
	struct variable_list result = {{NULL, NULL, NULL}};
	bool outermost;

	UNWINDS();
	if (!real)
		return result;
	outermost = begins(__builtin_frame_address(0));
	result = real(engine, roots, inputs, keep_graph, create_graph, accumulate_grad, outputs);
	if (tracer_enter() && outermost) {
		backward_ends();
		steps_backward_ends();
	}
	tracer_leave();
	return result;
}

/* Not a frame of the thread's stacks: the compiler jumps. */
EXPORT void
THREAD_INIT(void *engine, int device, const void *queue, bool counts)
{
	void (*real)(void *, int, const void *, bool) = real_find(REAL_THREAD_INIT);

	tracer_thread.of_autograd = true;
	if (real)
		real(engine, device, queue, counts);
}
