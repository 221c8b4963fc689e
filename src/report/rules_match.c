/* Which rule a call stack meets. */
#include <stdlib.h>
#include <string.h>

#include "report/demangle.h"
#include "report/key.h"
#include "report/memory.h"
#include "report/paths.h"
#include "report/rules.h"
#include "report/wildcard.h"

enum {
	FRAMES_MAX = 100000000, /* looked at; with more, nothing else is suppressed */
	KEYS_MAX = 100000,
};

/* What is known of a frame and a rule. */
enum {
	FRAME_NEW = 0,
	FRAME_MEETS = 1,
	FRAME_MISSES = 2,
};

void rules_matcher_init(struct rules_matcher *matcher, struct rules *rules, struct code_map *map)
{
	*matcher = (struct rules_matcher){
		.rules = rules,
		.map = map,
		.frames = memory_new(rules ? rules->count : 0, sizeof(uint8_t *)),
		.frames_left = FRAMES_MAX,
		.keys_left = KEYS_MAX,
	};
}

void rules_matcher_release(struct rules_matcher *matcher)
{
	for (size_t i = 0; matcher->rules && i < matcher->rules->count; i++)
		free(matcher->frames[i]);
	free(matcher->frames);
	*matcher = (struct rules_matcher){0};
}

static bool text_meets(const char *pattern, struct text text)
{
	const size_t enough = 4096; /* bytes of a name */

	if (!text.bytes)
		return false;
	text.size = text.size < enough ? text.size : enough;
	return wildcard_matches(pattern, text);
}

static bool function_meets(const struct names *names, const char *pattern,
			   const struct gpuleak_frame *frame)
{
	struct text function = names_text(names, frame->function);
	char readable[1024];

	if (text_meets(pattern, function) ||
	    text_meets(pattern, names_text(names, frame->qualname)))
		return true;
	return frame->language == GPULEAK_LANGUAGE_NATIVE &&
	       demangle(function, readable, sizeof(readable)) &&
	       text_meets(pattern, (struct text){readable, strlen(readable)});
}

/* Paths made to take time use up the budget faster. */
static void charge(struct rules_matcher *matcher, size_t size)
{
	uint64_t cost = size * size / 256;

	matcher->frames_left -= cost < matcher->frames_left ? cost : matcher->frames_left;
}

static bool file_meets(struct rules_matcher *matcher, const char *pattern,
		       const struct gpuleak_frame *frame)
{
	const struct snapshot *snapshot = matcher->map->snapshot;
	char path[PATH_SIZE];

	if (frame->language == GPULEAK_LANGUAGE_NATIVE)
		path_absolute(path, (struct text){"/", 1},
			      names_text(&snapshot->names, frame->module));
	else
		code_file(snapshot, frame, path);
	charge(matcher, strlen(path));
	return wildcard_matches_path(pattern, path);
}

static bool frame_meets(struct rules_matcher *matcher, size_t number,
			const struct gpuleak_frame *frame)
{
	const struct snapshot *snapshot = matcher->map->snapshot;
	const struct rule *rule = &matcher->rules->items[number];
	uint8_t *known;

	if (!matcher->frames[number])
		matcher->frames[number] = memory_new(snapshot->names.frame_count, 1);
	known = &matcher->frames[number][frame - snapshot->names.frames];
	if (*known == FRAME_NEW) {
		bool meets = rule->what == RULE_FILE
				     ? file_meets(matcher, rule->pattern, frame)
				     : function_meets(&snapshot->names, rule->pattern, frame);

		*known = meets ? FRAME_MEETS : FRAME_MISSES;
	}
	return *known == FRAME_MEETS;
}

static bool any_frame_meets(struct rules_matcher *matcher, size_t number, const struct stack *stack)
{
	for (uint32_t i = 0; i < stack->count && matcher->frames_left; i++) {
		const struct gpuleak_frame *frame =
			names_frame(&matcher->map->snapshot->names, stack, i);

		matcher->frames_left--;
		if (frame && frame_meets(matcher, number, frame))
			return true;
	}
	return false;
}

static bool key_meets(struct rules_matcher *matcher, const char *pattern,
		      const struct snapshot_site *site, const struct place *place)
{
	char key[KEY_SIZE];

	if (!matcher->keys_left)
		return false;
	matcher->keys_left--;
	key_of_site(matcher->map, site, place, key);
	return wildcard_matches(pattern, (struct text){key, strlen(key)});
}

struct rule *rules_match(struct rules_matcher *matcher, enum verdict label, bool bounds,
			 const struct snapshot_site *site, const struct place *place)
{
	struct stack stack = {0};

	if (!matcher->rules || (site->flags & GPULEAK_SITE_OVERFLOW))
		return NULL;
	names_stack(&matcher->map->snapshot->names, site->stack, &stack);
	for (size_t i = 0; i < matcher->rules->count; i++) {
		struct rule *rule = &matcher->rules->items[i];

		if (!(rule->labels & 1u << label) || (rule->bound != 0) != bounds)
			continue;
		if (rule->what == RULE_STACK ? key_meets(matcher, rule->pattern, site, place)
					     : any_frame_meets(matcher, i, &stack))
			return rule;
	}
	return NULL;
}
