/*
 * Our own walk over native frames finds what libunwind finds, frame by frame, and a stack is
 * recognised as what it is and no other.
 */
#include "tracer/native_walk.h"

#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "tracer/native_memo.h"

#include "test.h"

enum {
	DEEP = 100
};

#ifdef __SANITIZE_THREAD__
#define RACES_WATCHED 1
#else
#define RACES_WATCHED 0
#endif

static int (*unwind)(void **addresses, int size);
static _Thread_local struct native_memo memo; /* of walk after walk, as in the tracer */
static unsigned compared, recognised;

#define NOINLINE __attribute__((noinline))

/* The memo knows the stack by its hash, or keeps it. */
static void recognise(const uintptr_t *frame, const struct native_reads *reads, uint64_t hash)
{
	uint64_t found = 0;

	if (native_memo_find(&memo, frame, &found))
		recognised++;
	else
		native_memo_keep(&memo, frame, reads, hash);
	EXPECT(native_memo_find(&memo, frame, &found));
	EXPECT_U64(found, hash);
}

/* Compares the two from here on; the innermost address differs, as it is in this function. */
static NOINLINE void compare(void)
{
	const uintptr_t *frame = __builtin_frame_address(0);
	void *theirs[1 + NATIVE_STACK_MAX];
	unsigned expected = (unsigned)unwind(theirs, 1 + NATIVE_STACK_MAX) - 1;
	struct native_stack stack;
	struct native_reads reads;

	EXPECT(native_walk(frame, &stack, &reads));
	EXPECT_U64(stack.count, expected);
	for (unsigned i = 0; i < expected && i < stack.count; i++)
		EXPECT_U64(stack.addresses[i], (uintptr_t)theirs[i + 1]);
	recognise(frame, &reads, native_stack_hash(&stack));
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

/* Where a walk goes through: each function calls the next that the path names. */
static NOINLINE int follow_path(const char *path);

static NOINLINE int left(const char *path)
{
	return follow_path(path) + 1;
}

static NOINLINE int right(const char *path)
{
	return follow_path(path) + 2;
}

static NOINLINE int sized(const char *path)
{
	volatile char *bytes = alloca((size_t)(*path % 4) * 16 + 1);

	bytes[0] = 1;
	return follow_path(path) + bytes[0];
}

static NOINLINE int follow_path(const char *path)
{
	int (*const ways[])(const char *) = {left, right, sized};

	if (!*path)
		return leaf(0);
	return ways[*path % 3](path + 1) + *path;
}

/*
 * Stacks that agree with an earlier one in their innermost frames, their outermost or in between,
 * and differ in a caller at the same depth.
 */
static void run_random_paths(void)
{
	enum {
		PATHS = 4000,
		LONGEST = 24
	};
	char path[LONGEST + 1] = "abcabcabcabcabcabcabcabc";
	unsigned seed = 1;

	for (unsigned i = 0; i < PATHS; i++) {
		unsigned length = 4 + (unsigned)rand_r(&seed) % (LONGEST - 3);

		path[(unsigned)rand_r(&seed) % LONGEST] = (char)('a' + rand_r(&seed) % 12);
		for (volatile unsigned times = 0; times < 1 + i % 2; times++)
			follow_path(i % 3 ? path : path + LONGEST - length);
	}
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
	/* ThreadSanitizer's thread is gone before libunwind takes its leave of the thread. */
	if (!RACES_WATCHED) {
		EXPECT(pthread_create(&thread, NULL, in_thread, NULL) == 0);
		pthread_join(thread, NULL);
	}
	run_all();
	run_random_paths();
	EXPECT(compared > 5000);
	EXPECT(recognised >= 2000);	       /* each path that came twice in a row */
	EXPECT(recognised < compared * 2 / 3); /* a path that is new isn't one known */
	return test_result();
}
