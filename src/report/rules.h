/*
 * Suppressions: what somebody knows of findings, and why, from files.
 * gpuleak-suppressions(5) has the form of a line.
 */
#ifndef GPULEAK_REPORT_RULES_H
#define GPULEAK_REPORT_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/code.h"
#include "report/message.h"
#include "report/place.h"
#include "report/snapshot.h"
#include "report/verdict.h"

/* What a rule's pattern is compared with. */
enum rule_what {
	RULE_FUNCTION = 0, /* the function of any frame */
	RULE_FILE = 1,	   /* the file of any frame, or the module of a native one */
	RULE_STACK = 2,	   /* the finding's key */
};

struct rule {
	uint32_t labels; /* 1 << label for each */
	uint64_t bound;	 /* bytes that a buffer is known not to pass; 0: a suppression */
	enum rule_what what;
	const char *file; /* owned by `rules`, as what follows: where the rule stands */
	uint32_t line;
	char *pattern;
	char *reason;
	uint64_t used; /* sites it was applied to, in all traces */
};

struct rules {
	struct rule *items; /* owned, in the order of the files */
	size_t count;
	char **files; /* owned */
	size_t file_count;
};

/*
 * Add the rules of the file at `path`.  Returns 0, or -1 with file, line and reason in
 * `why`; `rules` are good for rules_release() in any case.
 */
int rules_read(struct rules *rules, const char *path, struct message *why);
void rules_release(struct rules *rules);

/* The rules as they apply to the stacks of one trace. */
struct rules_matcher {
	struct rules *rules;  /* borrowed; NULL: none */
	struct code_map *map; /* borrowed */
	uint8_t **frames;     /* owned: for each rule, what is known of each frame */
	uint64_t frames_left; /* so many more are looked at: bounds the time for any bytes */
	uint64_t keys_left;   /* the same of keys */
};

void rules_matcher_init(struct rules_matcher *matcher, struct rules *rules, struct code_map *map);
void rules_matcher_release(struct rules_matcher *matcher);

/*
 * The first rule for a site that bears `label`; `bounds`: one that names a bound, else
 * one that suppresses.  NULL: none.
 */
struct rule *rules_match(struct rules_matcher *matcher, enum verdict label, bool bounds,
			 const struct snapshot_site *site, const struct place *place);

#endif
