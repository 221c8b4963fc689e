/*
 * A program that loads an interpreter in the middle of its life, into nobody's
 * scope, and starts and ends it three times: pyframes_embed LIBPYTHON
 */
#include <dlfcn.h>
#include <stdint.h>

#include "tracer/python_stack.h"

#include "test.h"

static struct python_stack stack;
static struct python_frame frame;
static unsigned hooked;

static struct {
	void (*initialize)(int signals);
	int (*finalize)(void);
	int (*run)(const char *code);
	void *(*builtins)(void);
	void *(*make_function)(void *definition, void *self, void *module);
	int (*set_item)(void *dictionary, const char *key, void *item);
	void (*increase)(void *object);
} python;

/* Called by the Python code below, as a function of three frames. */
static void *hook(void *self, void *none)
{
	(void)self;
	hooked++;
	EXPECT_U64(python_stack_walk(&stack), PYTHON_STACK_FRAMES);
	EXPECT_U64(stack.depth, 3);
	EXPECT(python_frame_resolve(&stack, 0, &frame));
	EXPECT_STR(frame.function, "inner");
	EXPECT_STR(frame.file, "<string>");
	EXPECT_U64(frame.line, 2);
	EXPECT(python_frame_resolve(&stack, 1, &frame));
	EXPECT_STR(frame.function, "outer");
	EXPECT_U64(frame.line, 4);
	EXPECT(python_frame_resolve(&stack, 2, &frame));
	EXPECT_STR(frame.function, "<module>");
	EXPECT_U64(frame.line, 5);
	python.increase(none);
	return none;
}

static const char code[] = "def inner():\n"
			   "  hook(None)\n"
			   "def outer():\n"
			   "  inner()\n"
			   "outer()\n";

/* CPython's own struct; METH_O: one argument. */
static struct {
	const char *name;
	void *(*function)(void *self, void *argument);
	int flags;
	const char *doc;
} definition = {"hook", hook, 8, NULL};

static bool find(void *library)
{
	*(void **)&python.initialize = dlsym(library, "Py_InitializeEx");
	*(void **)&python.finalize = dlsym(library, "Py_FinalizeEx");
	*(void **)&python.run = dlsym(library, "PyRun_SimpleString");
	*(void **)&python.builtins = dlsym(library, "PyEval_GetBuiltins");
	*(void **)&python.make_function = dlsym(library, "PyCFunction_NewEx");
	*(void **)&python.set_item = dlsym(library, "PyDict_SetItemString");
	*(void **)&python.increase = dlsym(library, "Py_IncRef");
	return python.initialize && python.finalize && python.run && python.builtins &&
	       python.make_function && python.set_item && python.increase;
}

static void start_and_end(void)
{
	unsigned before = hooked;

	python.initialize(0);
	EXPECT_U64(python_stack_walk(&stack), PYTHON_STACK_EMPTY);
	python.set_item(python.builtins(), "hook", python.make_function(&definition, NULL, NULL));
	EXPECT(python.run(code) == 0);
	EXPECT_U64(hooked, before + 1);
	EXPECT_U64(python_stack_walk(&stack), PYTHON_STACK_EMPTY);
	EXPECT(python.finalize() == 0);
	EXPECT_U64(python_stack_walk(&stack), PYTHON_STACK_NONE);
}

int main(int argc, char **argv)
{
	void *library;

	EXPECT(!python_attach());
	EXPECT_STR(python_detached_why(), "no Python in this process");
	EXPECT_U64(python_stack_walk(&stack), PYTHON_STACK_NONE);
	library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	if (!library || !find(library)) {
		fprintf(stderr, "%s\n", argc > 1 ? dlerror() : "no shared libpython");
		return TEST_SKIP;
	}
	EXPECT(dlsym(RTLD_DEFAULT, "Py_GetVersion") == NULL);
	EXPECT(python_attach());
	EXPECT(python_detached_why() == NULL);
	EXPECT_U64(python_stack_walk(&stack), PYTHON_STACK_NONE); /* not started yet */
	for (unsigned i = 0; i < 3; i++)
		start_and_end();
	return test_result();
}
