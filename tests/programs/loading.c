/*
 * Loads what PyTorch loads late, out of everybody's sight, as Python does.
 * Usage: loading MODE FOLDER, with the folder of the fake libraries; see `modes`.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static void (*step)(void);
static const char *folder;

struct allocator {
	void *library;
	uint64_t (*alloc)(int device, uint64_t size);
	void (*free_at)(int device, uint64_t address, uint64_t size);
};

static bool load(struct allocator *allocator)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/libc10_cuda.so", folder);
	allocator->library = dlopen(path, RTLD_LOCAL | RTLD_NOW);
	if (!allocator->library) {
		fprintf(stderr, "%s\n", dlerror());
		return false;
	}
	allocator->alloc = (uint64_t(*)(int, uint64_t))dlsym(allocator->library, "fake_alloc");
	allocator->free_at =
		(void (*)(int, uint64_t, uint64_t))dlsym(allocator->library, "fake_free_at");
	return allocator->alloc && allocator->free_at;
}

static void loop(const struct allocator *allocator, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		uint64_t temporary;

		allocator->alloc(0, 512);
		temporary = allocator->alloc(0, 2048);
		allocator->free_at(0, temporary, 2048);
		if (step)
			step();
	}
}

static void *load_and_loop(void *count)
{
	struct allocator allocator;

	if (load(&allocator))
		loop(&allocator, (unsigned)(uintptr_t)count);
	return NULL;
}

static int late(void)
{
	if (step)
		step(); /* nothing is there yet: no step */
	load_and_loop((void *)(uintptr_t)4);
	return 0;
}

static int in_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, load_and_loop, (void *)(uintptr_t)4) != 0)
		return 1;
	pthread_join(thread, NULL);
	load_and_loop((void *)(uintptr_t)2);
	return 0;
}

/* Where a library was, so that it doesn't come back to the same place. */
static void occupy(void *near)
{
	uintptr_t start = ((uintptr_t)near & ~(uintptr_t)4095) - (1 << 20);

	for (unsigned i = 0; i < 512; i++) {
		void *wanted = (void *)(start + 4096 * (uintptr_t)i);

		mmap(wanted, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		     0);
	}
}

/* The function as a library bound to it would get it: the preloaded one, if there is any. */
static void *bound(void *library, const char *name)
{
	void *symbol = dlsym(RTLD_DEFAULT, name);

	return symbol ? symbol : dlsym(library, name);
}

/* A plug-in's host: unloads CUDA's runtime and loads it again elsewhere.  PyTorch's stay. */
static int reload(void)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/libcudart.so.99", folder);
	for (unsigned i = 0; i < 4; i++) {
		void *library = dlopen(path, RTLD_LOCAL | RTLD_NOW);
		int (*take)(void **, size_t);
		int (*give)(void *);
		void *block = NULL, *old;

		if (!library)
			return 1;
		take = (int (*)(void **, size_t))bound(library, "cudaMalloc");
		give = (int (*)(void *))bound(library, "cudaFree");
		if (take(&block, 4096) != 0 || !block || take(&block, 8192) != 0 ||
		    give(block) != 0)
			return 1;
		if (step)
			step();
		old = dlsym(library, "fake_cudart_calls");
		dlclose(library);
		occupy(old);
	}
	return 0;
}

/* No CUDA at all: what looks for it finds ours, which says that there is none. */
static int without(void)
{
	int (*count_devices)(int *count) =
		(int (*)(int *))dlsym(RTLD_DEFAULT, "cudaGetDeviceCount");
	int (*take)(void **, size_t) = (int (*)(void **, size_t))dlsym(RTLD_DEFAULT, "cudaMalloc");
	void *block = &block;
	int count = -1;

	printf("%d %d", count_devices ? count_devices(&count) : 0, take ? take(&block, 64) : 0);
	printf(" %d %d\n", count, block == &block);
	if (step)
		step();
	return 0;
}

static const struct mode {
	const char *name;
	int (*run)(void);
} modes[] = {
	{"late", late},
	{"thread", in_thread},
	{"reload", reload},
	{"without", without},
};

int main(int argc, char **argv)
{
	step = (void (*)(void))dlsym(RTLD_DEFAULT, "gpuleak_step");
	folder = argc > 2 ? argv[2] : ".";
	for (unsigned i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strcmp(argv[1], modes[i].name) == 0)
			return modes[i].run();
	fprintf(stderr, "loading: which mode?\n");
	return 2;
}
