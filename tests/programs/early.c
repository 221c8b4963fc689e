/* A library that allocates before main() and after exit(), when the tracer isn't up any more. */
#include "fake.h"

__attribute__((constructor)) static void begin(void)
{
	for (unsigned i = 0; i < 3; i++)
		fake_alloc(0, 512);
}

__attribute__((destructor)) static void end(void)
{
	uint64_t block = fake_alloc(0, 2048);

	fake_free_at(0, block, 2048);
	fake_alloc(1, 1024);
}

FAKE_EXPORT void early_is_there(void);

void early_is_there(void)
{
}
