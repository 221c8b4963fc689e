/* fuzz_seeds FOLDER: write the traces of tests/report there, as seeds for the fuzzer. */
#include <stdio.h>

#include "build_cases.h"
#include "trace/layout.h"

int main(int argc, char **argv)
{
	char path[4096];

	if (argc != 2) {
		fputs("usage: fuzz_seeds FOLDER\n", stderr);
		return 2;
	}
	for (const struct build_case *one = build_cases; one->name; one++) {
		struct build build;

		build_init(&build, LAYOUT_SIZE_MIN);
		one->fill(&build);
		snprintf(path, sizeof(path), "%s/%s.bin", argv[1], one->name);
		if (!build_write(&build, path)) {
			perror(path);
			return 1;
		}
		build_release(&build);
	}
	return 0;
}
