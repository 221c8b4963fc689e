#include "fake.h"

static struct fake_calls calls;

struct fake_calls fake_torch_calls(void)
{
	return calls;
}

struct fake_variables fake_execute(void *engine, const void *roots, const void *inputs,
				   bool keep_graph, bool create_graph, bool accumulate_grad,
				   const void *outputs)
{
	uint64_t flags = keep_graph | (uint64_t)create_graph << 1 | (uint64_t)accumulate_grad << 2;

	if (!fake_c10_quiet)
		fake_calls_add(&calls, "ex", (uintptr_t)engine,
			       (uintptr_t)roots ^ (uintptr_t)inputs << 8, flags,
			       (uintptr_t)outputs);
	if (fake_c10_during)
		fake_c10_during();
	if (fake_torch_during)
		fake_torch_during(roots);
	return (struct fake_variables){{engine, calls.count % 2 ? NULL : &calls, &calls}};
}

/* The tracer asks; what this leaves in errno must not show. */
int fake_graph_task(void)
{
	if (fake_torch_asked)
		fake_torch_asked();
	return fake_torch_task;
}

void fake_thread_init(void *engine, int device, const void *queue, bool counts)
{
	if (!fake_c10_quiet)
		fake_calls_add(&calls, "ti", (uintptr_t)engine, (uint64_t)device, (uintptr_t)queue,
			       counts);
	if (fake_c10_during)
		fake_c10_during();
	if (fake_torch_during)
		fake_torch_during(engine);
}

void (*fake_torch_asked)(void);
void (*fake_torch_during)(const void *what);
__thread int fake_torch_task = -1;
