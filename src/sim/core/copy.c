#include "sim/core/copy.h"

#include <stdint.h>
#include <string.h>

#include "sim/core/conjunction.h"
#include "sim/core/device.h"
#include "sim/core/shadow.h"
#include "sim/core/thread.h"

enum {
	FAR = 64 << 10, /* no kernel's arguments are further up the stack */
	MOST = 64,	/* arguments looked at */
	LAST = 4 << 10, /* bytes looked at from the last argument on: it may be that long */
};

void gpusim_copy(void *to, const void *from, size_t size)
{
	bool to_device, from_device;

	if (size == 0)
		return;
	to_device = gpusim_device_of(to) >= 0;
	from_device = gpusim_device_of(from) >= 0;
	if (to_device && from_device)
		gpusim_shadow_move((uint64_t)to, (uint64_t)from, size);
	else if (to_device)
		gpusim_shadow_write((uint64_t)to, from, size);
	else if (from_device)
		gpusim_shadow_read((uint64_t)from, to, size);
	else
		memmove(to, from, size);
}

void gpusim_copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
		      size_t height)
{
	if (to_pitch == width && from_pitch == width) {
		gpusim_copy(to, from, width * height);
		return;
	}
	for (size_t row = 0; row < height; row++)
		gpusim_copy((char *)to + row * to_pitch, (const char *)from + row * from_pitch,
			    width);
}

void gpusim_fill(void *to, int value, size_t size)
{
	if (gpusim_device_of(to) >= 0)
		gpusim_shadow_fill((uint64_t)to, value, size);
	else if (size)
		memset(to, value, size);
}

/* Whatever it wrote reads as true: a byte at each place that it was given. */
static void conclude(const uint64_t *words, size_t count)
{
	static const uint8_t truth = 1;

	for (size_t i = 0; i < count; i++)
		if (gpusim_device_of((const void *)words[i]) >= 0)
			gpusim_shadow_write(words[i], &truth, sizeof(truth));
}

/*
 * Nothing says how many arguments a kernel has.  They lie in the caller's frame, so we read upwards
 * from the first one to a little beyond the last that looks like one, within this thread's stack.
 */
void gpusim_kernel(const void *function, void *const *arguments)
{
	struct gpusim_thread *thread = gpusim_thread();
	char *here = __builtin_frame_address(0);
	char *lowest, *highest, *argument;
	size_t count;

	gpusim_thread_stack(thread);
	if (!arguments) {
		gpusim_shadow_kernel(NULL, 0);
		return;
	}
	if (here < thread->stack_low || here >= thread->stack_high) {
		gpusim_shadow_forget(); /* a coroutine's stack, whose end we don't know */
		return;
	}
	lowest = thread->stack_high;
	highest = here;
	for (int i = 0; i < MOST; i++) {
		argument = arguments[i];
		if (argument < here || argument >= here + FAR || argument >= thread->stack_high)
			break;
		lowest = argument < lowest ? argument : lowest;
		highest = argument > highest ? argument : highest;
	}
	lowest = (char *)((uint64_t)lowest & ~7ull);
	highest += LAST;
	if (highest > thread->stack_high)
		highest = thread->stack_high;
	count = lowest < highest ? (size_t)(highest - lowest) / 8 : 0;
	gpusim_shadow_kernel((const uint64_t *)lowest, count);
	if (function && gpusim_conjunction_is(function))
		conclude((const uint64_t *)lowest, count);
}
