/*
 * C++ exceptions through our frames: thrown by each real function, caught by its caller.
 * And the same while the tracer is resolving new stacks in another thread.
 */
#include <cstdio>
#include <stdexcept>
#include <thread>

extern "C" {
#include "fake.h"
void gpuleak_step(void) __attribute__((weak));
}

static void throw_it()
{
	throw std::runtime_error("from the real function");
}

template <typename Call> static bool throws(Call call)
{
	bool caught = false;

	fake_cudart_during = fake_c10_during = throw_it;
	try {
		call();
	} catch (const std::runtime_error &) {
		caught = true;
	}
	fake_cudart_during = fake_c10_during = nullptr;
	fake_alloc(0, 512);
	if (gpuleak_step)
		gpuleak_step();
	return caught;
}

template <int depth> [[gnu::noinline]] static void below()
{
	if constexpr (depth > 0)
		below<depth - 1>();
	else
		throw std::logic_error("a deep one");
	asm volatile("");
}

static unsigned throw_many(unsigned count)
{
	unsigned caught = 0;

	for (unsigned i = 0; i < count; i++) {
		try {
			below<20>();
		} catch (const std::logic_error &) {
			caught++;
		}
		fake_alloc(1, 512);
	}
	return caught;
}

int main()
{
	const fake_device cuda = {FAKE_CUDA, 0};
	void *block = nullptr;
	unsigned caught = 0;

	caught += throws([&] { cudaMalloc(&block, 64); });
	caught += throws([&] { cudaFree((void *)0x7000); });
	caught += throws([] { cudaSetDevice(0); });
	caught +=
		throws([&] { fake_report((void *)0x9000, 512, fake_allocated(0) + 512, 0, cuda); });
	caught += throws([&] { fake_oom(1 << 30, fake_allocated(0), 0, cuda); });

	std::thread other([] { throw_many(2000); });
	caught += throw_many(2000);
	other.join();
	if (gpuleak_step)
		gpuleak_step();
	std::printf("%u caught\n", caught);
	return 0;
}
