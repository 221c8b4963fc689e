/*
 * Backward passes as PyTorch's engine runs them, for Python programs that have none: whoever
 * calls engine_pass() waits while a thread of the engine's, which Python knows and which has no
 * frames of Python's, does what it is told.
 */
#include <condition_variable>
#include <csetjmp>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <dlfcn.h>

extern "C" {
#include "fake.h"

/* As ctypes makes it of a Python function: takes the GIL. */
typedef void python_function(void);

enum engine_end {
	ENGINE_RETURNS,
	ENGINE_THROWS,
	ENGINE_JUMPS
};

/* One pass, all of whose nodes `nodes` runs on the calling thread.  False: it threw or jumped. */
FAKE_EXPORT bool engine_pass(python_function *nodes, enum engine_end end);

/* What a node does on the engine's thread; returns when it is done. */
FAKE_EXPORT void engine_alloc(uint64_t size);
FAKE_EXPORT void engine_call(python_function *node);
}

namespace
{

struct request {
	uint64_t size; /* to allocate; 0: `node` is to be called */
	python_function *node;
	bool done;
};

struct pass {
	python_function *nodes;
	engine_end end;
	std::jmp_buf back;
};

char engine;
/* Never destroyed: the thread lives to the process's end. */
std::mutex &lock = *new std::mutex; /* guards `wanted` and what it points to */
std::condition_variable &changed = *new std::condition_variable;
request *wanted;

/* A node is being evaluated. */
struct evaluating {
	int before = fake_torch_task;

	evaluating()
	{
		fake_torch_task = 1;
	}
	~evaluating()
	{
		fake_torch_task = before;
	}
};

/* Has Python know the thread, as PythonEngine::thread_init() does; without frames. */
void meet_python()
{
	auto ensure = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "PyGILState_Ensure"));
	auto save = reinterpret_cast<void *(*)()>(dlsym(RTLD_DEFAULT, "PyEval_SaveThread"));

	ensure();
	save();
}

[[noreturn]] void serve()
{
	for (;;) {
		std::unique_lock<std::mutex> held(lock);
		request *request;

		changed.wait(held, [] { return wanted && !wanted->done; });
		request = wanted;
		held.unlock();
		{
			evaluating node;

			if (request->size)
				fake_alloc(0, request->size);
			else
				request->node();
		}
		held.lock();
		request->done = true;
		changed.notify_all();
	}
}

void run(const pass &pass)
{
	{
		evaluating nodes;

		pass.nodes();
	}
	if (pass.end == ENGINE_THROWS)
		throw std::runtime_error("a hook of the user's");
	if (pass.end == ENGINE_JUMPS)
		std::longjmp(const_cast<struct pass &>(pass).back, 1);
}

void during(const void *what)
{
	if (what == &engine)
		serve();
	else
		run(*static_cast<const pass *>(what));
}

void live()
{
	meet_python();
	fake_thread_init(&engine, 0, nullptr, false);
}

void begin()
{
	static std::once_flag begun;

	std::call_once(begun, [] {
		fake_torch_during = during;
		std::thread(live).detach();
	});
}

void ask(request request)
{
	std::unique_lock<std::mutex> held(lock);

	changed.wait(held, [] { return !wanted; });
	wanted = &request;
	changed.notify_all();
	changed.wait(held, [&] { return request.done; });
	wanted = nullptr;
	changed.notify_all();
}

} // namespace

void engine_alloc(uint64_t size)
{
	ask({size, nullptr, false});
}

void engine_call(python_function *node)
{
	ask({0, node, false});
}

bool engine_pass(python_function *nodes, enum engine_end end)
{
	pass pass = {nodes, end, {}};

	begin();
	if (setjmp(pass.back))
		return false;
	try {
		fake_execute(&engine, &pass, nullptr, false, false, true, nullptr);
	} catch (const std::runtime_error &) {
		return false;
	}
	return true;
}
