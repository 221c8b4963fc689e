/*
 * The few functions of CPython's C API that the agent needs, looked up at run time:
 * the library is one for all versions and needs no Python.  All of them exist in
 * 3.8 to 3.15, the free-threaded builds included.
 */
#ifndef GPULEAK_TRACER_PYTHON_API_H
#define GPULEAK_TRACER_PYTHON_API_H

#include <stdbool.h>

typedef struct python_object PyObject; /* opaque here */
typedef PyObject *(*python_method)(PyObject *self, PyObject *args);

/* PyMethodDef; the same layout in all versions. */
struct python_method_def {
	const char *name;
	python_method method;
	int flags;
	const char *doc;
};

enum {
	PYTHON_METH_VARARGS = 1,
	PYTHON_FILE_INPUT = 257
};

struct python_api {
	int (*Py_AddPendingCall)(int (*call)(void *), void *argument);
	int (*PyGILState_Ensure)(void);
	void (*PyGILState_Release)(int state);
	PyObject *(*PyDict_New)(void);
	int (*PyDict_SetItemString)(PyObject *dict, const char *key, PyObject *value);
	PyObject *(*PyDict_GetItemString)(PyObject *dict, const char *key);
	PyObject *(*PyEval_GetBuiltins)(void);
	PyObject *(*Py_CompileString)(const char *text, const char *file, int start);
	PyObject *(*PyEval_EvalCode)(PyObject *code, PyObject *globals, PyObject *locals);
	PyObject *(*PyObject_CallFunctionObjArgs)(PyObject *callable, ...);
	PyObject *(*PyCFunction_NewEx)(struct python_method_def *def, PyObject *self,
				       PyObject *module);
	int (*PyArg_ParseTuple)(PyObject *args, const char *format, ...);
	PyObject *(*PyTuple_GetItem)(PyObject *tuple, long index);
	PyObject *(*PyObject_GetAttr)(PyObject *object, PyObject *name);
	PyObject *(*PyObject_GetItem)(PyObject *object, PyObject *key);
	PyObject *(*PyUnicode_InternFromString)(const char *text);
	PyObject *(*PySequence_GetItem)(PyObject *sequence, long index);
	long (*PySequence_Size)(PyObject *sequence);
	int (*PyObject_IsTrue)(PyObject *object);
	unsigned long long (*PyLong_AsUnsignedLongLong)(PyObject *object);
	PyObject *(*PyErr_Occurred)(void); /* borrowed */
	int (*PyErr_ExceptionMatches)(PyObject *type);
	void (*PyErr_Clear)(void);
	void (*PyErr_Fetch)(PyObject **type, PyObject **value, PyObject **traceback);
	void (*PyErr_Restore)(PyObject *type, PyObject *value, PyObject *traceback);
	void (*Py_IncRef)(PyObject *object);
	void (*Py_DecRef)(PyObject *object);
	PyObject *none;	      /* Py_None */
	PyObject **exception; /* PyExc_Exception */
};

/* Written once by python_api_find(), read-only then. */
extern struct python_api python_api;

/*
 * True once the whole API is found.  Takes the loader's lock: from the constructor
 * or another safe moment, never in an allocator's hook.
 */
bool python_api_find(void);

/* Gives a reference back; NULL: there is none. */
static inline void python_api_drop(PyObject *object)
{
	if (object)
		python_api.Py_DecRef(object);
}

/*
 * Our exceptions end here.  But a signal's handler may run within our code: what it
 * raises to end the program (KeyboardInterrupt, SystemExit) stays set for the program.
 */
void python_api_clear_own_error(void);

/* The interpreter is going down: nobody may ask for the GIL any more. */
bool python_api_finalizing(void);

#endif
