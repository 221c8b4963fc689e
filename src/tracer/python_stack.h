/*
 * The Python frames of the calling thread, read without the GIL and without
 * touching a reference count: CPython's structs are read by offsets, which
 * python_attach() chooses by version and checks against the running process.
 *
 * A thread reads its own frames only, and only inside a call that Python made:
 * nobody else pushes, pops or moves them then, and each frame keeps its code
 * object alive.  Not for signal handlers.
 */
#ifndef GPULEAK_TRACER_PYTHON_STACK_H
#define GPULEAK_TRACER_PYTHON_STACK_H

#include <stdbool.h>
#include <stdint.h>

/* Frames kept, the innermost ones. */
enum {
	PYTHON_STACK_MAX = 256
};

enum python_stack_state {
	PYTHON_STACK_NONE = 0,	/* no interpreter, finalizing, or a thread Python has never seen */
	PYTHON_STACK_EMPTY = 1, /* the thread has a state but no Python frame: autograd's threads */
	PYTHON_STACK_FRAMES = 2, /* at least one frame */
};

/*
 * One walk of a thread's stack.  Start with all bytes zero and keep it for the
 * next walk, of whichever thread: the frames it remembers make that one faster.
 * One thread at a time.
 */
struct python_stack {
	uint64_t hash;	/* of the instructions of all frames kept, in order */
	uint32_t depth; /* frames kept */
	bool cut;	/* outermost frames were left out */
	/* Borrowed from the thread, dead after the call; beyond `depth`: of earlier walks. */
	const void *frame[PYTHON_STACK_MAX + 1];
};

/* What a report says of one frame.  Strings end in NUL and are cut at a character. */
struct python_frame {
	const void *code;    /* the code object: only for comparing with one that died */
	char file[1024];     /* UTF-8, or the raw bytes of a file name that isn't */
	char function[256];  /* co_name */
	char qualname[256];  /* co_qualname; empty before Python 3.11 */
	uint32_t line;	     /* 0: unknown */
	uint32_t first_line; /* of the function; 0: unknown */
	uint32_t offset;     /* bytes of bytecode; 0 where unknown */
	bool hidden;	     /* Python itself does not show this frame: leave it out */
};

/*
 * Look for an interpreter in this process and choose its offsets; true when one
 * is attached.  May block on the loader's lock: not with a lock of the target's
 * held.  Cheap to call again: looks again only while none was found and
 * libraries came since.  One thread at a time.  errno stays.
 */
bool python_attach(void);

/* Why there are no Python stacks, as text that stays; NULL when there are. */
const char *python_detached_why(void);

/*
 * Walk the calling thread's frames and hash them.  Equal hashes mean equal
 * stacks only as long as the code objects live: see python_watch_code().
 * Takes no lock, no GIL and no memory; errno stays.
 */
enum python_stack_state python_stack_walk(struct python_stack *stack);

/*
 * Say what frame `i` of a stack is that this thread has just walked, within the
 * same call.  False, with all of `frame` unknown, when it can't be read.
 */
bool python_frame_resolve(const struct python_stack *stack, unsigned i, struct python_frame *frame);

/* The code object of frame `i`, only for comparing; NULL when it can't be read. */
const void *python_frame_code(const struct python_stack *stack, unsigned i);

/*
 * A number for the object that frame `i` has as its first argument, as long as the function
 * shares that variable with no function within it: only for comparing.  0: unknown.
 */
uint64_t python_frame_argument(const struct python_stack *stack, unsigned i);

/*
 * Have `died` called with each code object that goes away, before its memory is
 * free.  The caller holds the GIL and may not call this twice with another
 * function.  `died` runs with the GIL held, in any thread: it may neither touch
 * Python nor wait for a lock that is ever held while waiting for the GIL.
 */
bool python_watch_code(void (*died)(const void *code));

#endif
