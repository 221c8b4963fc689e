/* Goes to another folder, then has its first event.  Usage: elsewhere FOLDER */
#include <stdio.h>
#include <unistd.h>

#include "fake.h"

int main(int argc, char **argv)
{
	if (argc != 2 || chdir(argv[1]) < 0) {
		perror("elsewhere");
		return 2;
	}
	return fake_alloc(0, 512) ? 0 : 1;
}
