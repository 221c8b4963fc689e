/*
 * Reading DWARF's numbers out of a loaded object's memory, never past its end.
 */
#ifndef GPULEAK_TRACER_NATIVE_BYTES_H
#define GPULEAK_TRACER_NATIVE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes being read; past the end it reads zeros and `good` is false. */
struct bytes {
	const uint8_t *at;
	const uint8_t *end;
	bool good;
};

/* How a pointer is written (LSB Core, 10.5.1); others are not understood. */
enum {
	PE_ABSPTR = 0x00,
	PE_UDATA4 = 0x03,
	PE_SDATA4 = 0x0b,
	PE_PCREL = 0x10,
	PE_DATAREL = 0x30
};

/* A number of `size` bytes, at most 8, little-endian. */
uint64_t bytes_take(struct bytes *bytes, size_t size);

void bytes_skip(struct bytes *bytes, uint64_t size);

/* DWARF 4, 7.6: seven bits a byte, the low ones first. */
uint64_t bytes_take_uleb(struct bytes *bytes);
int64_t bytes_take_sleb(struct bytes *bytes);

/* A pointer as LSB Core 10.5.1 writes it; `data` is what DATAREL counts from. */
uintptr_t bytes_take_pointer(struct bytes *bytes, uint8_t encoding, uintptr_t data);

#endif
