/*
 * PyTorch's autograd engine: where a backward pass ends.  libtorch_python calls this for
 * backward() and grad(), with no lock held and without the GIL.
 *
 * A backward pass that throws goes through our frame, which has nothing to clean up.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "tracer/autograd.h"
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

/* std::vector<at::Tensor>: returned in memory, and moved by copying its three words. */
struct variable_list {
	void *words[3];
};

EXPORT struct variable_list EXECUTE(void *engine, const void *roots, const void *inputs,
				    bool keep_graph, bool create_graph, bool accumulate_grad,
				    const void *outputs);

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

EXPORT struct variable_list EXECUTE(void *engine, const void *roots, const void *inputs,
				    bool keep_graph, bool create_graph, bool accumulate_grad,
				    const void *outputs) {
	struct variable_list (*real)(void *, const void *, const void *, bool, bool, bool,
				     const void *) = real_find(REAL_EXECUTE);
	struct variable_list result = {{NULL, NULL, NULL}};

	if (!real)
		return result;
	result = real(engine, roots, inputs, keep_graph, create_graph, accumulate_grad, outputs);
	if (tracer_enter() && !autograd_runs())
		steps_backward_ends();
	tracer_leave();
	return result;
}
