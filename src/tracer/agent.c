#include "tracer/agent.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tracer/agent_text.h"
#include "tracer/clock.h"
#include "tracer/code_watch.h"
#include "tracer/describe.h"
#include "tracer/ledger.h"
#include "tracer/mark.h"
#include "tracer/optimizer_identity.h"
#include "tracer/python_api.h"
#include "tracer/python_collector.h"
#include "tracer/stack.h"
#include "tracer/steps.h"
#include "tracer/trace_writer.h"
#include "tracer/tracer.h"

#include "tracer/banned.h"

enum {
	DESCRIBED = 8,		/* optimizers remembered at a time */
	DESCRIPTIONS_MAX = 100, /* programs that make one in each step must not pay for ever */
};

enum agent_state {
	AGENT_NONE = 0,
	AGENT_ASKED = 1,   /* a pending call is queued */
	AGENT_RUNNING = 2, /* a thread is at it; Python may let another one run meanwhile */
	AGENT_READY = 3,   /* the hooks are registered, or can't be */
	AGENT_FAILED = 4,
};

static _Atomic(int) agent_state;

/* Guarded by the GIL: made by load(), kept for good. */
static PyObject *globals;
static PyObject *put_function;
static struct {
	const PyObject *optimizer; /* borrowed: only for comparing */
	long groups;
} described[DESCRIBED];
static unsigned descriptions;
static bool hooks_off; /* they couldn't both be registered: one may be there all the same */

/* put(name, text) */
static PyObject *put(PyObject *self, PyObject *args)
{
	const char *name, *text;

	(void)self;
	if (python_api.PyArg_ParseTuple(args, "ss", &name, &text))
		describe_put(name, text);
	else
		python_api.PyErr_Clear();
	python_api.Py_IncRef(python_api.none);
	return python_api.none;
}

/* Calls a function of agent.py.  New reference or NULL. */
static PyObject *call(const char *name, PyObject *first, PyObject *second)
{
	PyObject *function = python_api.PyDict_GetItemString(globals, name);
	PyObject *result;

	if (!function)
		return NULL;
	result = python_api.PyObject_CallFunctionObjArgs(function, first, second, NULL);
	if (!result)
		python_api_clear_own_error();
	return result;
}

/* pre_step(optimizer, args, kwargs), called by torch.optim */
static PyObject *pre_step(PyObject *self, PyObject *args)
{
	(void)self;
	(void)args;
	if (!hooks_off)
		steps_optimizer_begins();
	python_api.Py_IncRef(python_api.none);
	return python_api.none;
}

/* The first optimizer, then what parameters others have, or itself once there are more groups. */
static void describe_optimizer(PyObject *optimizer, long groups)
{
	for (unsigned i = 0; i < DESCRIBED; i++)
		if (described[i].optimizer == optimizer && described[i].groups == groups)
			return;
	if (mark_count() == 0 || descriptions == DESCRIPTIONS_MAX)
		return;
	described[descriptions % DESCRIBED].optimizer = optimizer;
	described[descriptions % DESCRIBED].groups = groups;
	python_api_drop(
		call(descriptions++ ? "parameters" : "describe_training", put_function, optimizer));
	if (ledger_any_copied())
		python_api_drop(call("in_use", put_function, optimizer));
}

/* post_step(optimizer, args, kwargs), called by torch.optim */
static PyObject *post_step(PyObject *self, PyObject *args)
{
	PyObject *optimizer = python_api.PyTuple_GetItem(args, 0);
	long groups = 0;

	(void)self;
	if (!optimizer)
		python_api.PyErr_Clear();
	if (!hooks_off)
		steps_optimizer_ends(optimizer ? optimizer_identity(optimizer, &groups) : 1);
	if (optimizer && !hooks_off)
		describe_optimizer(optimizer, groups);
	if (python_api.PyErr_Occurred())
		return NULL;
	python_api.Py_IncRef(python_api.none);
	return python_api.none;
}

/* found(gc.garbage, gc.callbacks) */
static PyObject *found(PyObject *self, PyObject *args)
{
	PyObject *garbage = python_api.PyTuple_GetItem(args, 0);
	PyObject *callbacks = garbage ? python_api.PyTuple_GetItem(args, 1) : NULL;

	(void)self;
	if (!callbacks)
		python_api.PyErr_Clear();
	else if (python_collector_find(garbage, callbacks) && trace.run)
		__atomic_fetch_or(&trace.run->flags, GPULEAK_RUN_COLLECTIONS, __ATOMIC_RELAXED);
	python_api.Py_IncRef(python_api.none);
	return python_api.none;
}

/* The functions' descriptions must outlive them. */
static struct python_method_def put_def = {"put", put, PYTHON_METH_VARARGS, NULL};
static struct python_method_def pre_def = {"gpuleak_pre_step", pre_step, PYTHON_METH_VARARGS, NULL};
static struct python_method_def post_def = {"gpuleak_post_step", post_step, PYTHON_METH_VARARGS,
					    NULL};
static struct python_method_def found_def = {"found", found, PYTHON_METH_VARARGS, NULL};

static void open_identity(void)
{
	PyObject *entry = python_api.PyDict_GetItemString(globals, "entry");

	if (entry)
		optimizer_identity_open(entry);
}

/* Compile agent.py into a namespace of its own: nothing of it shows in the program's. */
static bool load(void)
{
	PyObject *code, *result = NULL;

	if (globals)
		return true;
	globals = python_api.PyDict_New();
	if (!globals)
		return false;
	python_api.PyDict_SetItemString(globals, "__builtins__", python_api.PyEval_GetBuiltins());
	put_function = python_api.PyCFunction_NewEx(&put_def, NULL, NULL);
	code = python_api.Py_CompileString(agent_text, "<gpuleak>", PYTHON_FILE_INPUT);
	if (code)
		result = python_api.PyEval_EvalCode(code, globals, globals);
	if (!result)
		python_api_clear_own_error();
	python_api_drop(code);
	python_api_drop(result);
	if (result)
		open_identity();
	return result && put_function;
}

/* False when torch.optim isn't there yet. */
static bool register_steps(void)
{
	PyObject *pre = python_api.PyCFunction_NewEx(&pre_def, NULL, NULL);
	PyObject *post = python_api.PyCFunction_NewEx(&post_def, NULL, NULL);
	PyObject *why = pre && post ? call("register", pre, post) : NULL;
	bool there = why && why != python_api.none;

	hooks_off = there && python_api.PyObject_IsTrue(why) == 1;
	if (hooks_off)
		python_api_drop(call("tell_off", put_function, why));
	python_api_drop(why);
	python_api_drop(pre);
	python_api_drop(post);
	return there;
}

static void find_collector(void)
{
	PyObject *function = python_api.PyCFunction_NewEx(&found_def, NULL, NULL);

	python_api_drop(function ? call("collector", function, NULL) : NULL);
	python_api_drop(function);
}

/* False when another thread is at it or has done it. */
static bool claim(void)
{
	int state = atomic_load(&agent_state);

	while (state < AGENT_RUNNING)
		if (atomic_compare_exchange_weak(&agent_state, &state, AGENT_RUNNING))
			return true;
	return false;
}

/* The GIL is held; no lock of ours is. */
static void run(void)
{
	if (!claim())
		return;
	if (!load()) {
		atomic_store(&agent_state, AGENT_FAILED);
		return;
	}
	code_watch_start();
	if (!register_steps()) {
		/* torch.optim isn't there yet: the next request tries again. */
		atomic_store(&agent_state, AGENT_NONE);
		return;
	}
	atomic_store(&agent_state, AGENT_READY);
	python_api_drop(call("describe", put_function, NULL));
	find_collector();
	if (trace.run)
		__atomic_fetch_or(&trace.run->flags,
				  (hooks_off ? 0 : GPULEAK_RUN_OPTIMIZER_HOOKS) |
					  GPULEAK_RUN_DESCRIBED,
				  __ATOMIC_RELAXED);
}

/*
 * Runs Python with the program's error indicator put aside.  False when the program
 * has a new error, raised by a signal's handler meanwhile.
 */
static bool run_guarded(void)
{
	PyObject *type, *value, *traceback;
	int saved = errno;
	bool quiet;

	python_api.PyErr_Fetch(&type, &value, &traceback);
	run();
	quiet = !python_api.PyErr_Occurred();
	if (quiet) {
		python_api.PyErr_Restore(type, value, traceback);
	} else {
		python_api_drop(type);
		python_api_drop(value);
		python_api_drop(traceback);
	}
	errno = saved;
	return quiet;
}

static int pending_call(void *unused)
{
	(void)unused;
	return run_guarded() ? 0 : -1;
}

void agent_request(void)
{
	int none = AGENT_NONE;

	if (!python_api_find() || python_api_finalizing())
		return;
	if (!atomic_compare_exchange_strong(&agent_state, &none, AGENT_ASKED))
		return;
	if (python_api.Py_AddPendingCall(pending_call, NULL) != 0)
		atomic_store(&agent_state, AGENT_NONE);
}

/* Waits for the GIL with nothing held, runs the agent and ends. */
static void *helper(void *unused)
{
	int gil;

	(void)unused;
	if (python_api_finalizing())
		return NULL;
	gil = python_api.PyGILState_Ensure();
	if (!run_guarded())
		python_api.PyErr_Clear(); /* handlers run on the main thread: not ours to raise */
	python_api.PyGILState_Release(gil);
	return NULL;
}

void agent_insist(void)
{
	sigset_t all, before;
	pthread_attr_t attributes;
	pthread_t thread;

	if (atomic_load(&agent_state) >= AGENT_RUNNING || python_api_finalizing())
		return;
	if (pthread_attr_init(&attributes) != 0)
		return;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	/* The program's signals are for its own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_create(&thread, &attributes, helper, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
}

void agent_forget(void)
{
	/* The hooks of a ready agent are inherited; a queued call or a thread at it is lost. */
	if (atomic_load(&agent_state) < AGENT_READY)
		atomic_store(&agent_state, AGENT_NONE);
	optimizer_identity_forget();
	memset(described, 0, sizeof(described));
	descriptions = 0;
}
