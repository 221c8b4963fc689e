/*
 * A trace in memory at its last mark, taken while the program goes on: what a killed
 * process would leave in a mapping, but with nothing in it of a mark under way.
 */
#ifndef GPULEAK_TRACER_SLOT_IMAGE_H
#define GPULEAK_TRACER_SLOT_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/format.h"

enum {
	SLOT_RANGES_MAX = 1 + GPULEAK_SECTIONS_MAX + GPULEAK_DEVICES_MAX
};

struct slot_image {
	uint8_t *bytes; /* owned; laid out like the trace, without its ring */
	uint64_t size;	/* bytes */
	uint64_t mark;
	uint64_t when; /* it was made: the same number may come again */
	unsigned count;
	struct slot_range {
		uint64_t offset;
		uint64_t size;
	} ranges[SLOT_RANGES_MAX]; /* what is in use */
};

/* False without memory. */
bool slot_image_open(struct slot_image *image);

/* Copy the trace at its last mark.  May wait for a mark under way; no lock is held. */
void slot_image_take(struct slot_image *image);

/*
 * Copy a page of the ring as far as its events are whole.  Returns what tells its content
 * from any other that the page ever has; 0: it is empty, or too busy to be copied.
 */
uint64_t slot_image_ring_page(uint64_t number, struct gpuleak_ring_page *copied);

/* What slot_image_ring_page() returns of a page that is full, without copying it. */
uint64_t slot_image_full_page(uint64_t number);

#endif
