/*
 * What identifies a finding over commits: files and functions, no line numbers.
 */
#ifndef GPULEAK_REPORT_KEY_H
#define GPULEAK_REPORT_KEY_H

#include "report/code.h"
#include "report/findings.h"

enum {
	KEY_SIZE = 1024 /* bytes, the NUL included */
};

/*
 * "train.py:train/conv.py:_conv_forward": the user's frames from the outermost
 * inward, then the innermost frame where that is someone else's.  Files are seen
 * from the script's folder, pids are replaced.  Where it is too long the outermost
 * frames are left out.  Returns `key`.
 */
const char *key_of_site(struct code_map *map, const struct snapshot_site *site,
			const struct place *place, char key[KEY_SIZE]);

/* Of the heaviest site. */
const char *key_of(struct code_map *map, const struct finding *finding, char key[KEY_SIZE]);

#endif
