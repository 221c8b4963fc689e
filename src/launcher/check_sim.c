#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/child.h"
#include "launcher/commands.h"
#include "launcher/locate.h"
#include "launcher/say.h"

/* sim_functions.py, which says more about what it prints. */
extern const char sim_functions_text[];

int check_sim(const char *python, bool all)
{
	struct child_output as_ours = {-1, -1};
	struct child_end end = {.code = EXIT_NOT_DONE};
	struct parts parts;
	char *folder;

	parts_find(&parts);
	if (!parts.sim) {
		part_missing("sim/libgpuleak-sim.so");
		parts_release(&parts);
		return EXIT_NOT_DONE;
	}
	folder = text_format("%.*s", (int)(strrchr(parts.sim, '/') - parts.sim), parts.sim);
	end = child_run((char *[]){(char *)python, "-c", (char *)sim_functions_text, folder,
				   all ? "1" : "0", NULL},
			NULL, as_ours);
	free(folder);
	parts_release(&parts);
	return end.started && !end.signal ? end.code : EXIT_NOT_DONE;
}
