/*
 * Calls that show what a block is for: a copy from the host to an address where one
 * begins, or from there to another one, and what cuBLAS is given to work in.  PyTorch sets the
 * latter before each multiplication, most times to the same address: that is looked at again only
 * in another step, since it may be another block there, and at a peak.
 */
#include <stddef.h>
#include <stdint.h>

#include <driver_types.h>

#include "tracer/guard.h"
#include "tracer/ledger.h"
#include "tracer/real.h"
#include "tracer/thread.h"
#include "tracer/tracer.h"

#include "tracer/banned.h"

#define EXPORT __attribute__((visibility("default")))

enum {
	CUBLAS_NOT_INITIALIZED = 1
};

EXPORT cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size,
				   enum cudaMemcpyKind kind, cudaStream_t stream);
EXPORT int cublasSetWorkspace_v2(void *handle, void *workspace, size_t size);

/* Addresses of all devices lie in one space; the thread's current one is tried first. */
static void note(const void *ptr, bool (*use)(struct ledger *ledger, uint64_t address))
{
	struct ledger *current = ledger_if_used((unsigned)thread_device);

	if (current && use(current, (uintptr_t)ptr))
		return;
	for (unsigned i = 0; i < GPULEAK_DEVICES_MAX; i++) {
		struct ledger *ledger = ledger_if_used(i);

		if (ledger && ledger != current && use(ledger, (uintptr_t)ptr))
			return;
	}
}

/* Only before step 1, and on the thread's current device, where load_state_dict() copies. */
static void note_copy(const void *to, const void *from, size_t size)
{
	struct ledger *ledger = ledger_if_used((unsigned)thread_device);

	if (ledger && ledger_in_baseline(ledger))
		ledger_copied(ledger, (uintptr_t)from, (uintptr_t)to, size);
}

/* Of the thread: what is set again in the same step needs no second look. */
static bool is_set_again(const void *workspace)
{
	static _Thread_local const void *last __attribute__((tls_model("initial-exec")));
	static _Thread_local uint32_t last_step __attribute__((tls_model("initial-exec")));
	const struct ledger *ledger = ledger_if_used((unsigned)thread_device);
	uint32_t step = ledger ? ledger_step(ledger) : 0;
	bool again = workspace == last && step == last_step;

	last = workspace;
	last_step = step;
	return again && !(ledger && ledger_at_peak(ledger));
}

EXPORT cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size,
				   enum cudaMemcpyKind kind, cudaStream_t stream)
{
	cudaError_t (*real)(void *, const void *, size_t, enum cudaMemcpyKind, cudaStream_t) =
		real_find_often(REAL_cudaMemcpyAsync);
	bool outermost;

	if (!real)
		return cudaErrorSharedObjectSymbolNotFound;
	outermost = tracer_enter();
	if (outermost && kind == cudaMemcpyHostToDevice && tracer_recording())
		note(to, ledger_filled_from_host);
	else if (outermost && kind == cudaMemcpyDeviceToDevice && tracer_recording())
		note_copy(to, from, size);
	tracer_leave();
	return real(to, from, size, kind, stream);
}

EXPORT int cublasSetWorkspace_v2(void *handle, void *workspace, size_t size)
{
	int (*real)(void *, void *, size_t) = real_find_often(REAL_cublasSetWorkspace_v2);

	if (!real)
		return CUBLAS_NOT_INITIALIZED;
	if (tracer_enter() && tracer_recording() && !is_set_again(workspace))
		note(workspace, ledger_used_as_workspace);
	tracer_leave();
	return real(handle, workspace, size);
}
