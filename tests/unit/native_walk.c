/* Our own walk over native frames finds what libunwind finds, frame by frame. */
#include "tracer/native_walk.h"

#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "test.h"

enum {
	DEEP = 100
};

static int (*unwind)(void **addresses, int size);
static unsigned compared;

#define NOINLINE __attribute__((noinline))

/* Compares the two from here on; the innermost address differs, as it is in this function. */
static NOINLINE void compare(void)
{
	const uintptr_t *frame = __builtin_frame_address(0);
	struct native_registers from = {
		.bp = frame[0], .pc = frame[1], .sp = (uintptr_t)(frame + 2)};
	const void *ours[128];
	void *theirs[129];
	unsigned count = native_walk(from, ours, 128);
	int expected = unwind(theirs, 129) - 1;

	EXPECT_U64(count, expected > 128 ? 128 : expected);
	for (unsigned i = 0; i < count; i++)
		EXPECT_U64((uintptr_t)ours[i], (uintptr_t)theirs[i + 1]);
	compared++;
}

static NOINLINE int leaf(int value)
{
	compare();
	return value + 1;
}

static NOINLINE int recurse(int depth)
{
	return depth == 0 ? leaf(depth) : recurse(depth - 1) + 1;
}

/* A frame whose size only the base pointer knows. */
static NOINLINE int with_alloca(int size)
{
	volatile char *bytes = alloca((size_t)size);

	bytes[0] = 1;
	bytes[size - 1] = 2;
	return leaf(size) + bytes[0];
}

struct wide {
	char bytes[64] __attribute__((aligned(64)));
};

/* A frame aligned beyond the stack's own 16 bytes. */
static NOINLINE int aligned(int value)
{
	volatile struct wide wide = {{0}};

	wide.bytes[value & 63] = 1;
	return leaf(value) + wide.bytes[3];
}

/* Many saved registers, arguments on the stack. */
static NOINLINE int wide_call(int a, int b, int c, int d, int e, int f, int g, int h)
{
	int sum = leaf(a * b + c) + leaf(d * e + f) + leaf(g - h);

	return sum + a + b + c + d + e + f + g + h;
}

static int order(const void *left, const void *right)
{
	leaf(0);
	return *(const int *)left - *(const int *)right;
}

static void run_all(void)
{
	int numbers[] = {3, 1, 2};

	leaf(1);
	recurse(DEEP);
	for (int size = 16; size < 5000; size += 777)
		with_alloca(size);
	aligned(5);
	wide_call(1, 2, 3, 4, 5, 6, 7, 8);
	qsort(numbers, 3, sizeof(numbers[0]), order);
}

static void *in_thread(void *unused)
{
	run_all();
	return unused;
}

int main(void)
{
	void *library = dlopen("libunwind.so.8", RTLD_LOCAL | RTLD_NOW);
	void *function = library ? dlsym(library, "unw_backtrace") : NULL;
	pthread_t thread;

	if (!function) {
		fprintf(stderr, "no libunwind.so.8 to compare with\n");
		return TEST_SKIP;
	}
	memcpy(&unwind, &function, sizeof(unwind));
	run_all();
	EXPECT(pthread_create(&thread, NULL, in_thread, NULL) == 0);
	pthread_join(thread, NULL);
	run_all();
	EXPECT(compared > 40);
	return test_result();
}
