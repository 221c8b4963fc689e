/*
 * PyTorch's caching allocator reports each block it gives out or gets back through
 * two functions of libc10, and holds its device mutex while it does.  So here:
 * no GIL, no call into PyTorch or CUDA, nothing that blocks.
 *
 * Where the calls come from: c10/cuda/CUDACachingAllocator.cpp, alloc_found_block()
 * and free(Block *); c10/core/Allocator.cpp defines them.
 */
#include <stdbool.h>
#include <stdint.h>

#include "tracer/guard.h"
#include "tracer/hot.h"
#include "tracer/ledger.h"
#include "tracer/mark.h"
#include "tracer/real.h"
#include "tracer/steps.h"
#include "tracer/thread.h"
#include "tracer/tracer.h"

#include "tracer/banned.h"

#define EXPORT __attribute__((visibility("default")))

/* c10::Device: two bytes since 1.8, passed in one register. */
struct c10_device {
	int8_t type;
	int8_t index;
};

enum {
	C10_DEVICE_CUDA = 1
};

/* flatten: the whole way of an event is one piece of code, without what is rare. */
#define EVENT __attribute__((flatten, noinline)) HOT_CODE static void

EVENT note_alloc(void *ptr, uint64_t size, struct ring_totals now, struct c10_device device,
		 const uintptr_t *frame)
{
	struct ledger *ledger;
	struct stack *stack;

	if (!tracer_take_event())
		return;
	ledger = ledger_of(device.index);
	stack = thread_stack();
	if (!ledger || !stack) {
		tracer_drop_event();
		return;
	}
	stack_capture(stack, frame);
	if (mark_counts(MARK_RANK_LOOP))
		steps_allocation(ledger->device, stack);
	ledger_torch_alloc(ledger, (uintptr_t)ptr, size, now, stack);
}

EVENT note_free(void *ptr, uint64_t size, struct ring_totals now, struct c10_device device)
{
	struct ledger *ledger;

	if (!tracer_take_event())
		return;
	ledger = ledger_of(device.index);
	if (!ledger) {
		tracer_drop_event();
		return;
	}
	ledger_torch_free(ledger, (uintptr_t)ptr, size, now);
	if (mark_counts(MARK_RANK_LOOP))
		steps_free(ledger->device);
}

/* While recording is paused a block that was recorded before may be freed. */
__attribute__((noinline)) static void
note_free_paused(void *ptr, uint64_t size, struct ring_totals now, struct c10_device device)
{
	struct ledger *ledger = ledger_if_used((unsigned)device.index);

	if (ledger && ledger_torch_free_recorded(ledger, (uintptr_t)ptr, size, now))
		return;
	/* Counts it among those left out, unless recording has just gone on. */
	if (tracer_take_event())
		tracer_drop_event();
}

static inline void note_block(void *ptr, int64_t size, struct ring_totals now,
			      struct c10_device device, const uintptr_t *frame)
{
	if (device.type != C10_DEVICE_CUDA)
		return;
	if (size > 0)
		note_alloc(ptr, (uint64_t)size, now, device, frame);
	else if (size < 0 && __builtin_expect(tracer_paused(), 0))
		note_free_paused(ptr, 0 - (uint64_t)size, now, device);
	else if (size < 0)
		note_free(ptr, 0 - (uint64_t)size, now, device);
}

static void note_oom(int64_t size, uint64_t allocated, uint64_t reserved, struct c10_device device,
		     const uintptr_t *frame)
{
	struct ledger *ledger;
	struct stack *stack;

	if (device.type != C10_DEVICE_CUDA || !tracer_take_event())
		return;
	ledger = ledger_of(device.index);
	stack = thread_stack();
	if (!ledger || !stack) {
		tracer_drop_event();
		return;
	}
	stack_capture(stack, frame);
	ledger_torch_oom(ledger, (uint64_t)size, allocated, reserved, stack);
}

/* The names are the mangled ones of C++: declared here, called by libc10_cuda. */
#define REPORT_OLD    _ZN3c1027reportMemoryUsageToProfilerEPvlNS_6DeviceE
#define REPORT_SIGNED _ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE
#define REPORT	      _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE
#define OOM_SIGNED    _ZN3c1027reportOutOfMemoryToProfilerElllNS_6DeviceE
#define OOM	      _ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE

EXPORT void REPORT_OLD(void *ptr, int64_t size, struct c10_device device);
EXPORT void REPORT_SIGNED(void *ptr, int64_t size, int64_t allocated, int64_t reserved,
			  struct c10_device device);
EXPORT void REPORT(void *ptr, int64_t size, uint64_t allocated, uint64_t reserved,
		   struct c10_device device);
EXPORT void OOM_SIGNED(int64_t size, int64_t allocated, int64_t reserved, struct c10_device device);
EXPORT void OOM(int64_t size, uint64_t allocated, uint64_t reserved, struct c10_device device);

/* Up to 1.9 the pointer is the allocator's own Block, and it may change until the free. */
EXPORT void REPORT_OLD(void *ptr, int64_t size, struct c10_device device)
{
	void (*real)(void *, int64_t, struct c10_device) =
		real_find(REAL__ZN3c1027reportMemoryUsageToProfilerEPvlNS_6DeviceE);

	if (real)
		real(ptr, size, device);
}

EXPORT HOT_CODE void REPORT_SIGNED(void *ptr, int64_t size, int64_t allocated, int64_t reserved,
				   struct c10_device device)
{
	void (*real)(void *, int64_t, int64_t, int64_t, struct c10_device) =
		real_find(REAL__ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE);

	if (tracer_enter())
		note_block(ptr, size, (struct ring_totals){(uint64_t)allocated, (uint64_t)reserved},
			   device, __builtin_frame_address(0));
	tracer_leave();
	if (real)
		real(ptr, size, allocated, reserved, device);
}

EXPORT HOT_CODE void REPORT(void *ptr, int64_t size, uint64_t allocated, uint64_t reserved,
			    struct c10_device device)
{
	void (*real)(void *, int64_t, uint64_t, uint64_t, struct c10_device) =
		real_find(REAL__ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE);

	if (tracer_enter())
		note_block(ptr, size, (struct ring_totals){allocated, reserved}, device,
			   __builtin_frame_address(0));
	tracer_leave();
	if (real)
		real(ptr, size, allocated, reserved, device);
}

EXPORT void OOM_SIGNED(int64_t size, int64_t allocated, int64_t reserved, struct c10_device device)
{
	void (*real)(int64_t, int64_t, int64_t, struct c10_device) =
		real_find(REAL__ZN3c1027reportOutOfMemoryToProfilerElllNS_6DeviceE);

	if (tracer_enter())
		note_oom(size, (uint64_t)allocated, (uint64_t)reserved, device,
			 __builtin_frame_address(0));
	tracer_leave();
	if (real)
		real(size, allocated, reserved, device);
}

EXPORT void OOM(int64_t size, uint64_t allocated, uint64_t reserved, struct c10_device device)
{
	void (*real)(int64_t, uint64_t, uint64_t, struct c10_device) =
		real_find(REAL__ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE);

	if (tracer_enter())
		note_oom(size, allocated, reserved, device, __builtin_frame_address(0));
	tracer_leave();
	if (real)
		real(size, allocated, reserved, device);
}
