#include "report/wildcard.h"

#include <string.h>

bool wildcard_matches(const char *pattern, struct text text)
{
	const char *after_star = NULL; /* where to go on when what follows doesn't fit */
	size_t at = 0, star_at = 0;

	while (at < text.size) {
		if (*pattern == '*') {
			after_star = ++pattern;
			star_at = at;
		} else if (*pattern && (*pattern == '?' || *pattern == text.bytes[at])) {
			pattern++;
			at++;
		} else if (after_star) {
			pattern = after_star;
			at = ++star_at;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

bool wildcard_matches_path(const char *pattern, const char *path)
{
	while (!wildcard_matches(pattern, (struct text){path, strlen(path)})) {
		path = strchr(path, '/');
		if (!path)
			return false;
		path++;
	}
	return true;
}
