/* Allocates in atexit(), too; what early.c does comes before and after. */
#include <stdio.h>
#include <stdlib.h>

#include "gpuleak/gpuleak.h"

#include "fake.h"

#pragma weak gpuleak_step

void early_is_there(void);

static void at_exit(void)
{
	fake_alloc(0, 4096);
	if (gpuleak_step)
		gpuleak_step();
}

int main(void)
{
	early_is_there();
	atexit(at_exit);
	fake_alloc(0, 512);
	if (gpuleak_step)
		gpuleak_step();
	printf("main was here\n");
	return 3;
}
