#include "tracer/native_bytes.h"

#include <string.h>

#include "tracer/banned.h"

uint64_t bytes_take(struct bytes *bytes, size_t size)
{
	uint64_t value = 0;

	if (size > (size_t)(bytes->end - bytes->at)) {
		bytes->good = false;
		bytes->at = bytes->end;
		return 0;
	}
	memcpy(&value, bytes->at, size);
	bytes->at += size;
	return value;
}

void bytes_skip(struct bytes *bytes, uint64_t size)
{
	if (size > (uint64_t)(bytes->end - bytes->at)) {
		bytes->good = false;
		size = (uint64_t)(bytes->end - bytes->at);
	}
	bytes->at += size;
}

uint64_t bytes_take_uleb(struct bytes *bytes)
{
	uint64_t value = 0;
	uint8_t byte = 0x80;

	for (unsigned shift = 0; byte & 0x80 && bytes->good; shift += 7) {
		byte = (uint8_t)bytes_take(bytes, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
	}
	return value;
}

int64_t bytes_take_sleb(struct bytes *bytes)
{
	uint64_t value = 0;
	uint8_t byte = 0x80;
	unsigned shift = 0;

	for (; byte & 0x80 && bytes->good; shift += 7) {
		byte = (uint8_t)bytes_take(bytes, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
	}
	if (byte & 0x40 && shift < 64)
		value |= ~0ull << shift;
	return (int64_t)value;
}

uintptr_t bytes_take_pointer(struct bytes *bytes, uint8_t encoding, uintptr_t data)
{
	uintptr_t place = (uintptr_t)bytes->at;
	uintptr_t value;

	switch (encoding & 0x0f) {
	case PE_ABSPTR:
		value = bytes_take(bytes, 8);
		break;
	case PE_UDATA4:
		value = bytes_take(bytes, 4);
		break;
	case PE_SDATA4:
		value = (uintptr_t)(int64_t)(int32_t)bytes_take(bytes, 4);
		break;
	default:
		bytes->good = false;
		return 0;
	}
	switch (encoding & 0x70) {
	case 0:
		return value;
	case PE_PCREL:
		return place + value;
	case PE_DATAREL:
		return data + value;
	default:
		bytes->good = false;
		return 0;
	}
}
