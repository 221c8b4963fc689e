/*
 * Looks at what is the program's own: threads, descriptors, signals, environment, limits
 * and folder, before the first event and after many, and prints both.
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpuleak/gpuleak.h"

#include "fake.h"

#pragma weak gpuleak_step

static unsigned entries(const char *path)
{
	DIR *folder = opendir(path);
	unsigned count = 0;

	while (folder && readdir(folder))
		count++;
	if (folder)
		closedir(folder);
	return count;
}

static void signals(void)
{
	sigset_t blocked;
	unsigned handled = 0, masked = 0;

	sigprocmask(SIG_BLOCK, NULL, &blocked);
	for (int number = 1; number < 65; number++) {
		struct sigaction action;

		if (sigaction(number, NULL, &action) == 0)
			handled += action.sa_handler != SIG_DFL;
		masked += sigismember(&blocked, number) == 1;
	}
	printf("%u handled, %u blocked, ", handled, masked);
}

static void limits(void)
{
	uint64_t sum = 0;

	for (int resource = 0; resource < RLIMIT_NLIMITS; resource++) {
		struct rlimit limit = {0};

		getrlimit((__rlimit_resource_t)resource, &limit);
		sum = sum * 31 + limit.rlim_cur * 7 + limit.rlim_max;
	}
	printf("limits %llx, ", (unsigned long long)sum);
}

static void environment(void)
{
	uint64_t sum = 0;

	for (char **entry = environ; *entry; entry++)
		for (const char *byte = *entry; *byte; byte++)
			sum = sum * 31 + (unsigned char)*byte;
	printf("environment %llx, ", (unsigned long long)sum);
}

static void look(void)
{
	char folder[4096] = "", name[16] = "";
	mode_t mask = umask(0);
	stack_t alternate;

	umask(mask);
	sigaltstack(NULL, &alternate);
	prctl(PR_GET_NAME, name);
	printf("%u threads, ", entries("/proc/self/task") - 2);
	signals();
	limits();
	environment();
	printf("umask %o, alternate stack %d, called %s, in %s\n", (unsigned)mask,
	       alternate.ss_flags, name, getcwd(folder, sizeof(folder)) ? folder : "?");
}

int main(void)
{
	look();
	for (unsigned i = 0; i < 1000; i++) {
		fake_alloc((int)(i % 3), 512);
		if (gpuleak_step && i % 10 == 0)
			gpuleak_step();
	}
	look();
	return 0;
}
