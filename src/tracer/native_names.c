#include "tracer/native_names.h"

#include <string.h>

#include "tracer/native_stack.h"
#include "tracer/trace_writer.h"

#include "tracer/banned.h"

static gpuleak_string_id text(const char *string)
{
	return *string ? trace_string(string, strlen(string)) : 0;
}

static gpuleak_string_id build_id(const struct native_frame *frame)
{
	static const char hexadecimal[] = "0123456789abcdef";
	char digits[2 * sizeof(frame->build_id)];

	if (!frame->build_id_size || frame->build_id_size > sizeof(frame->build_id))
		return 0;
	for (size_t i = 0; i < frame->build_id_size; i++) {
		digits[2 * i] = hexadecimal[frame->build_id[i] >> 4];
		digits[2 * i + 1] = hexadecimal[frame->build_id[i] & 15];
	}
	return trace_string(digits, 2 * (size_t)frame->build_id_size);
}

void native_names_frame(const void *address, struct gpuleak_frame *frame)
{
	struct native_frame found;

	*frame = (struct gpuleak_frame){
		.language = GPULEAK_LANGUAGE_NATIVE,
		.offset = (uint64_t)(uintptr_t)address,
	};
	if (!native_frame_resolve(address, &found))
		return;
	frame->module = text(found.module);
	frame->build_id = build_id(&found);
	frame->offset = found.offset;
}

/* What lies at `address` is what lay there when the frame was written. */
static bool is_still_there(const struct gpuleak_frame *frame, const void *address)
{
	struct gpuleak_frame now;

	native_names_frame(address, &now);
	return now.module && now.module == frame->module && now.build_id == frame->build_id &&
	       now.offset == frame->offset;
}

void native_names_give(unsigned most)
{
	char name[4096];
	uint64_t offset, number;

	for (unsigned i = 0; i < most; i++) {
		const void *address = trace_next_unnamed(&number);

		if (!address)
			return;
		if (is_still_there(&trace.frames[number], address) &&
		    native_symbol(address, name, sizeof(name), &offset))
			trace.frames[number].function = trace_string(name, strlen(name));
	}
}
