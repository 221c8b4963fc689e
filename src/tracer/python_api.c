#define GPULEAK_LOOKS_UP

#include "tracer/python_api.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "tracer/native_stack.h"

#include "tracer/banned.h"

struct python_api python_api;

/* Py_IsFinalizing: 3.13 and later; _Py_IsFinalizing before.  Neither needs the GIL. */
static int (*is_finalizing)(void);
static bool found;

/* An embedder's libpython may be loaded RTLD_LOCAL, out of sight of RTLD_DEFAULT. */
static void *look_up(const char *name)
{
	void *symbol = dlsym(RTLD_DEFAULT, name);

	return symbol ? symbol : native_find_export("libpython3", name);
}

#define F(name)                                          \
	{                                                \
#name, offsetof(struct python_api, name) \
	}
static const struct wanted {
	const char *name;
	size_t offset;
} wanted[] = {
	F(Py_AddPendingCall),
	F(PyGILState_Ensure),
	F(PyGILState_Release),
	F(PyDict_New),
	F(PyDict_SetItemString),
	F(PyDict_GetItemString),
	F(PyEval_GetBuiltins),
	F(Py_CompileString),
	F(PyEval_EvalCode),
	F(PyObject_CallFunctionObjArgs),
	F(PyCFunction_NewEx),
	F(PyArg_ParseTuple),
	F(PyTuple_GetItem),
	F(PyObject_IsTrue),
	F(PyErr_Clear),
	F(PyErr_Fetch),
	F(PyErr_Restore),
	F(Py_IncRef),
	F(Py_DecRef),
};
#undef F

bool python_api_find(void)
{
	if (found)
		return true;
	for (unsigned i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		void *symbol = look_up(wanted[i].name);

		if (!symbol)
			return false;
		memcpy((char *)&python_api + wanted[i].offset, &symbol, sizeof(symbol));
	}
	python_api.none = look_up("_Py_NoneStruct");
	is_finalizing = (int (*)(void))look_up("Py_IsFinalizing");
	if (!is_finalizing)
		is_finalizing = (int (*)(void))look_up("_Py_IsFinalizing");
	found = python_api.none && is_finalizing;
	return found;
}

bool python_api_finalizing(void)
{
	return !found || is_finalizing();
}
