#include "report/names.h"

#include <stdlib.h>
#include <string.h>

#include "report/cursor.h"

void names_release(struct names *names)
{
	free(names->strings);
	free(names->frames);
	free(names->stacks);
	*names = (struct names){0};
}

bool names_string(const struct names *names, gpuleak_string_id id, struct text *text)
{
	struct cursor cursor = cursor_over(names->strings, names->strings_size);
	const uint8_t *bytes;
	uint32_t size;

	*text = (struct text){0};
	if (!id)
		return true;
	if (!cursor_skip(&cursor, (uint64_t)id * 4) || !cursor_take(&cursor, &size, sizeof(size)))
		return false;
	bytes = cursor_bytes(&cursor, size);
	if (!bytes)
		return false;
	*text = (struct text){(const char *)bytes, size};
	return true;
}

struct text names_text(const struct names *names, gpuleak_string_id id)
{
	struct text text;

	names_string(names, id, &text);
	return text;
}

bool names_stack(const struct names *names, uint32_t word, struct stack *stack)
{
	struct cursor cursor = cursor_over(names->stacks, names->stack_words * sizeof(uint32_t));
	uint32_t head[2];
	uint32_t count, callers;

	*stack = (struct stack){0};
	if (!cursor_skip(&cursor, (uint64_t)word * sizeof(uint32_t)) ||
	    !cursor_take(&cursor, head, sizeof(head)))
		return false;
	count = head[0];
	stack->frames = names->stacks + word + 2;
	stack->cut = (head[1] & GPULEAK_STACK_CUT) || count > STACK_FRAMES_MAX;
	if (count > cursor_left(&cursor) / sizeof(uint32_t))
		return false;
	callers = head[1] >> GPULEAK_STACK_CALLER_SHIFT;
	stack->count = count < STACK_FRAMES_MAX ? count : STACK_FRAMES_MAX;
	stack->own = callers < count ? count - callers : 0;
	if (stack->own > stack->count)
		stack->own = stack->count;
	return true;
}

const struct gpuleak_frame *names_frame(const struct names *names, const struct stack *stack,
					uint32_t i)
{
	if (i >= stack->count || stack->frames[i] >= names->frame_count)
		return NULL;
	return &names->frames[stack->frames[i]];
}

struct text text_base(struct text path)
{
	const char *slash = path.size ? memrchr(path.bytes, '/', path.size) : NULL;
	size_t skip = slash ? (size_t)(slash + 1 - path.bytes) : 0;

	return (struct text){path.bytes ? path.bytes + skip : NULL, path.size - skip};
}

bool text_next(struct text *list, struct text *item)
{
	const char *end;

	if (!list->size)
		return false;
	end = memchr(list->bytes, '\0', list->size);
	*item = (struct text){list->bytes, end ? (size_t)(end - list->bytes) : list->size};
	*list = (struct text){list->bytes + item->size, list->size - item->size};
	if (end) {
		list->bytes++;
		list->size--;
	}
	return true;
}
