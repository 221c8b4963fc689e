#include "tracer/thread.h"

#include <pthread.h>

#include "tracer/guard.h"
#include "tracer/hot.h"
#include "tracer/memory.h"

#include "tracer/banned.h"

_Thread_local struct tracer_thread tracer_thread __attribute__((tls_model("initial-exec")));
_Thread_local int thread_device __attribute__((tls_model("initial-exec")));

/* Written by thread_init(), read-only then. */
static pthread_key_t at_exit;
static bool have_key;

static void give_stack(void *stack)
{
	tracer_thread.stack = NULL;
	memory_give(stack, sizeof(struct stack));
}

void thread_init(void)
{
	have_key = pthread_key_create(&at_exit, give_stack) == 0;
}

__attribute__((cold, noinline)) static struct stack *take_stack(void)
{
	struct stack *stack;

	if (!have_key)
		return NULL;
	stack = memory_take(sizeof(*stack));
	if (!stack)
		return NULL;
	/* Without the key's slot it would never be given back. */
	if (pthread_setspecific(at_exit, stack) != 0) {
		memory_give(stack, sizeof(*stack));
		return NULL;
	}
	tracer_thread.stack = stack;
	return stack;
}

HOT_CODE struct stack *thread_stack(void)
{
	return tracer_thread.stack ? tracer_thread.stack : take_stack();
}
