#include "report/place.h"

#include <string.h>

#include "report/operation.h"

struct candidates {
	const struct gpuleak_frame *user;
	const struct gpuleak_frame *outside_torch; /* innermost outside PyTorch and the library */
	const struct gpuleak_frame *python;
	const struct gpuleak_frame *native;
	const struct gpuleak_frame *runtime;
	const struct gpuleak_frame *native_torch;
	bool backward_seen; /* a backward() of PyTorch, the user's frame still to come */
};

static bool function_is(const struct names *names, const struct gpuleak_frame *frame,
			const char *name)
{
	return text_is(names_text(names, frame->function), name);
}

/* Tensor.backward(), torch.autograd.backward() or torch.autograd.grad(). */
static bool is_backward(const struct names *names, const struct gpuleak_frame *frame)
{
	struct text file = names_text(names, frame->file);

	if (function_is(names, frame, "grad"))
		return text_ends(file, "/autograd/__init__.py");
	return function_is(names, frame, "backward") &&
	       (text_ends(file, "/_tensor.py") || text_ends(file, "/autograd/__init__.py"));
}

/* Where DistributedDataParallel makes its buckets: at its start, and anew in its second forward. */
static bool makes_buckets(const struct names *names, const struct gpuleak_frame *frame)
{
	return text_ends(names_text(names, frame->file), "/nn/parallel/distributed.py") &&
	       (function_is(names, frame, "_pre_forward") ||
		function_is(names, frame, "_ddp_init_helper"));
}

/* "evaluate", "validation_step", "run_eval": the word, not a part of another one. */
static bool is_validation(struct text function)
{
	const size_t longest = 64; /* every frame is looked at: bounds the time for any bytes */
	size_t left = function.size < longest ? function.size : longest;
	const char *word = function.bytes;

	while (left > 0) {
		const char *next;

		if ((left >= 4 && memcmp(word, "eval", 4) == 0) ||
		    (left >= 5 && memcmp(word, "valid", 5) == 0))
			return true;
		next = memchr(word, '_', left);
		if (!next)
			return false;
		left -= (size_t)(next + 1 - word);
		word = next + 1;
	}
	return false;
}

static void note_occasion(struct place *place, const struct names *names,
			  const struct gpuleak_frame *frame, enum code_owner owner)
{
	struct text file = names_text(names, frame->file);
	struct text function = names_text(names, frame->function);

	if (text_is(function, "load_state_dict") || text_is(function, "from_pretrained"))
		place->occasions |= PLACE_WEIGHTS;
	if (owner == CODE_STANDARD) {
		if (text_is(function, "deepcopy") && text_ends(file, "/copy.py"))
			place->occasions |= PLACE_COPIED;
	} else if (owner != CODE_TORCH) {
		if (!(place->occasions & PLACE_VALIDATING) && is_validation(function))
			place->occasions |= PLACE_VALIDATING;
		if (text_ends(file, "/transformers/cache_utils.py"))
			place->occasions |= PLACE_CACHED;
		else if (text_ends(file, "/safetensors/torch.py"))
			place->occasions |= PLACE_LOADED;
	} else if (text_ends(file, "/torch/serialization.py")) {
		place->occasions |= PLACE_LOADED;
	} else if (text_ends(file, "/optim/swa_utils.py")) {
		place->occasions |= PLACE_AVERAGED;
	} else if (text_ends(file, "/cuda/graphs.py")) {
		place->occasions |= PLACE_CAPTURED;
	}
}

/* What PyTorch's own frames tell of the purpose. */
static void note_torch_frame(struct place *place, struct candidates *found,
			     const struct names *names, const struct gpuleak_frame *frame)
{
	if (found->python == frame && makes_buckets(names, frame))
		place->buckets = true;
	else if (function_is(names, frame, "_call_impl"))
		place->forward = true;
	else if (function_is(names, frame, "_apply"))
		place->parameters = true;
	else if (!found->user && is_backward(names, frame))
		found->backward_seen = true;
}

/* Made once for a frame: it may be in every stack. */
static uint64_t frame_hash(struct code_map *map, const struct gpuleak_frame *frame)
{
	uint64_t *hash = &map->hashes[frame - map->snapshot->names.frames];

	if (!*hash)
		*hash = place_frame_hash(&map->snapshot->names, frame);
	return *hash;
}

/* Three bits of 64, the same for all lines of a function; made once for a frame. */
static uint64_t function_bits(struct code_map *map, const struct gpuleak_frame *frame)
{
	uint64_t *bits = &map->functions[frame - map->snapshot->names.frames];

	if (!*bits) {
		struct gpuleak_frame function = *frame;
		uint64_t hash;

		function.line = 0;
		hash = place_frame_hash(&map->snapshot->names, &function);
		hash ^= hash >> 32;
		*bits = 1ull << (hash & 63) | 1ull << (hash >> 6 & 63) | 1ull << (hash >> 12 & 63);
	}
	return *bits;
}

static void note_caller(struct place *place, struct code_map *map,
			const struct gpuleak_frame *frame)
{
	place->callers = place->callers * 0x100000001b3ull ^ frame_hash(map, frame);
	place->functions |= function_bits(map, frame);
}

/* `own`: of the thread that allocates.  Only such a frame tells of what. */
static void note_python_frame(struct place *place, struct candidates *found,
			      const struct names *names, const struct gpuleak_frame *frame,
			      enum code_owner owner, bool own)
{
	place->python |= own;
	if (!found->python)
		found->python = frame;
	if (own)
		note_occasion(place, names, frame, owner);
	if (owner == CODE_TORCH) {
		if (own)
			note_torch_frame(place, found, names, frame);
		return;
	}
	if (owner == CODE_STANDARD)
		return;
	if (!found->outside_torch)
		found->outside_torch = frame;
	if (owner != CODE_USER)
		return;
	if (found->user && !place->caller)
		place->caller = frame;
	if (!found->user) {
		found->user = frame;
		if (found->backward_seen || !own)
			place->backward = frame;
	}
}

/* PyTorch's functions that allocate for cuBLAS, or get a handle with what they allocated. */
static bool allocates_workspace(struct text symbol)
{
	static const char *const starts[] = {
		"_ZN2at4cuda24getCurrentCUDABlasHandle",
		"_ZN2at4cuda37getCurrentCUDABlasHandleWithWorkspace",
		"_ZN2at4cuda25allocateCUDABlasWorkspace",
		"_ZN2at4cuda22getCUDABlasLtWorkspace",
	};

	for (unsigned i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (text_begins(symbol, starts[i]))
			return true;
	return false;
}

static void note_native_frame(struct place *place, struct candidates *found,
			      const struct names *names, const struct gpuleak_frame *frame,
			      enum code_owner owner)
{
	const struct gpuleak_frame **innermost = &found->native;

	if (owner == CODE_NATIVE_TORCH && allocates_workspace(names_text(names, frame->function)))
		place->workspace = true;
	if (!place->operation.size && owner == CODE_NATIVE_TORCH)
		place->operation = operation_of(names_text(names, frame->function));
	if (owner == CODE_NATIVE_TORCH)
		innermost = &found->native_torch;
	else if (owner == CODE_NATIVE_RUNTIME)
		innermost = &found->runtime;
	if (!*innermost)
		*innermost = frame;
}

static const struct gpuleak_frame *choose(const struct candidates *found)
{
	const struct gpuleak_frame *const order[] = {found->user,    found->outside_torch,
						     found->python,  found->native,
						     found->runtime, found->native_torch};

	for (unsigned i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (order[i])
			return order[i];
	return NULL;
}

void place_of_stack(struct place *place, struct code_map *map, const struct stack *stack)
{
	const struct names *names = &map->snapshot->names;
	struct candidates found = {0};
	uint32_t count = stack->count, of_torch = 0;

	if (count > map->frames_left)
		count = 1;
	else
		map->frames_left -= count;
	*place = (struct place){0};
	for (uint32_t i = 0; i < count; i++) {
		const struct gpuleak_frame *frame = names_frame(names, stack, i);
		enum code_owner owner = code_owner(map, frame);

		of_torch += owner == CODE_TORCH && i < stack->own;
		if (owner == CODE_UNKNOWN) {
			place->damaged++;
			continue;
		}
		if (!place->inner || (!place->inner->function && frame->function))
			place->inner = frame;
		if (owner == CODE_USER)
			note_caller(place, map, frame);
		if (owner < CODE_NATIVE)
			note_python_frame(place, &found, names, frame, owner, i < stack->own);
		else
			note_native_frame(place, &found, names, frame, owner);
	}
	place->where = choose(&found);
	place->called = stack->own < stack->count;
	place->user = found.user != NULL;
	place->torch_alone = of_torch > 0 && of_torch == stack->own && !stack->cut;
	if (found.outside_torch != place->where)
		place->via = found.outside_torch;
}

bool place_frames_same(const struct names *names, const struct gpuleak_frame *a,
		       const struct gpuleak_frame *b)
{
	if (!a || !b || a == b)
		return a == b;
	if (a->language != b->language || a->line != b->line)
		return false;
	if (!text_same(names_text(names, a->function), names_text(names, b->function)))
		return false;
	if (a->language == GPULEAK_LANGUAGE_NATIVE)
		return text_same(names_text(names, a->module), names_text(names, b->module)) &&
		       (a->function || a->offset == b->offset);
	return text_same(names_text(names, a->file), names_text(names, b->file));
}

static uint64_t hash_text(uint64_t hash, struct text text)
{
	const size_t enough = 256; /* bytes at the end, where names differ */
	size_t from = text.size > enough ? text.size - enough : 0;

	for (size_t i = from; i < text.size; i++)
		hash = (hash ^ (uint8_t)text.bytes[i]) * 0x100000001b3ull;
	return hash;
}

uint64_t place_frame_hash(const struct names *names, const struct gpuleak_frame *frame)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	if (!frame)
		return hash;
	hash = (hash ^ frame->line) * 0x100000001b3ull;
	hash = hash_text(hash, names_text(names, frame->function));
	if (frame->language != GPULEAK_LANGUAGE_NATIVE)
		return hash_text(hash, names_text(names, frame->file));
	hash = hash_text(hash, names_text(names, frame->module));
	return frame->function ? hash : (hash ^ frame->offset) * 0x100000001b3ull;
}
