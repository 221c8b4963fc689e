/* build_trace CASE FILE: write one of the named traces. */
#include <stdio.h>
#include <string.h>

#include "build_cases.h"
#include "trace/layout.h"

int main(int argc, char **argv)
{
	const struct build_case *one = build_cases;
	struct build build;

	if (argc != 3) {
		fputs("usage: build_trace CASE FILE\n", stderr);
		return 2;
	}
	while (one->name && strcmp(one->name, argv[1]) != 0)
		one++;
	if (!one->name) {
		fprintf(stderr, "build_trace: no case is called %s\n", argv[1]);
		return 2;
	}
	build_init(&build, one->size ? one->size : LAYOUT_SIZE_MIN);
	one->fill(&build);
	if (!build_write(&build, argv[2])) {
		perror(argv[2]);
		return 1;
	}
	build_release(&build);
	return 0;
}
