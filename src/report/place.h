/*
 * The line that a call stack stands for: which of its frames is the user's, which
 * one a framework's in between.
 */
#ifndef GPULEAK_REPORT_PLACE_H
#define GPULEAK_REPORT_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "report/code.h"
#include "report/names.h"
#include "report/snapshot.h"

/* What frames on the stack tell of the occasion: enough to say which a jump is. */
enum place_occasion {
	PLACE_COPIED = 1u << 0,	    /* copy.deepcopy() */
	PLACE_LOADED = 1u << 1,	    /* torch.load(), safetensors */
	PLACE_AVERAGED = 1u << 2,   /* torch.optim.swa_utils */
	PLACE_CAPTURED = 1u << 3,   /* torch.cuda.graphs */
	PLACE_CACHED = 1u << 4,	    /* a key-value cache of transformers */
	PLACE_VALIDATING = 1u << 5, /* a function that is called so */
	PLACE_WEIGHTS = 1u << 6,    /* load_state_dict(), from_pretrained() */
};

/* Frames are borrowed from the snapshot; NULL: there is none. */
struct place {
	const struct gpuleak_frame *where;    /* the innermost frame of the user's, or what is next
						 best */
	const struct gpuleak_frame *via;      /* the innermost outside PyTorch, when not `where` */
	const struct gpuleak_frame *caller;   /* the user's frame that called `where` */
	const struct gpuleak_frame *inner;    /* the innermost frame that has a name */
	const struct gpuleak_frame *backward; /* the user's line that called backward() */
	struct text operation;		      /* of the backward pass; empty: unknown */
	bool python;			      /* the thread's own frames are Python's */
	bool torch_alone;   /* its own are PyTorch's: its autograd runs them, as in checkpointing */
	bool called;	    /* behind its own frames are those that called backward() */
	bool user;	    /* `where` is the user's code */
	bool buckets;	    /* DistributedDataParallel's, which the gradients live in */
	bool forward;	    /* within the forward of a module of PyTorch */
	bool workspace;	    /* where PyTorch allocates what cuBLAS works in */
	bool parameters;    /* within the making or moving of a module */
	bool few;	    /* left out of the pool: see findings.c */
	uint32_t occasions; /* enum place_occasion */
	uint64_t callers;   /* hash of the user's frames, all of them */
	uint64_t functions; /* which functions of the user's they are, whatever the order: bits */
	uint32_t damaged;   /* frames that could not be read */
};

/* Look at one stack of the snapshot that `map` is of. */
void place_of_stack(struct place *place, struct code_map *map, const struct stack *stack);

/* Same file, line and function, or same module and symbol. */
bool place_frames_same(const struct names *names, const struct gpuleak_frame *a,
		       const struct gpuleak_frame *b);

/* Equal for frames that are the same. */
uint64_t place_frame_hash(const struct names *names, const struct gpuleak_frame *frame);

#endif
