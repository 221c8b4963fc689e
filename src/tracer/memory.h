/*
 * Memory of our own, straight from the kernel: the target's heap is never touched.
 */
#ifndef GPULEAK_TRACER_MEMORY_H
#define GPULEAK_TRACER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed memory of `size` bytes, or NULL.  Keeps errno. */
void *memory_take(size_t size);
void memory_give(void *memory, size_t size);

/*
 * The same for what is far larger than what is ever used of it.  A child of fork doesn't get
 * it, and calls memory_forget_sparse().  For good; one thread at a time.
 */
void *memory_take_sparse(size_t size);
void memory_forget_sparse(void);

/*
 * Bytes taken and not given back, by all of the tracer; of sparse memory those that are in
 * use.  Any thread, once the sparse memory is taken; with a trace in memory it takes some
 * 10 us for each 10 MiB of it.
 */
uint64_t memory_taken(void);

/*
 * Memory for a table that will soon outgrow its own, with more of its pages there at each call:
 * at once in the larger one, a burst of entries would have the kernel make a page for each.
 * Zeroed: { 0 } is none yet.
 */
struct memory_ahead {
	uint8_t *memory; /* owned until it is taken */
	size_t touched;	 /* bytes whose pages are there */
};

/* Have one more page of `size` bytes there.  The same size in each call until it is taken. */
void memory_ahead_touch(struct memory_ahead *ahead, size_t size);

/* What was prepared, or as memory_take(): zeroed memory of `size` bytes, or NULL. */
void *memory_ahead_take(struct memory_ahead *ahead, size_t size);

/* An array that grows by doubling.  Zeroed: { 0 } is empty. */
struct memory_array {
	void *items;	  /* owned */
	size_t item_size; /* bytes; set by the first call */
	size_t capacity;  /* items */
	size_t count;	  /* items in use */
};

/*
 * Room for one more item at the end, zeroed and counted; NULL when there is no
 * memory.  Items may move: keep no pointer across calls.  The owner's lock is held.
 */
void *memory_array_add(struct memory_array *array, size_t item_size);

#endif
