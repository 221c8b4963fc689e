#include "tracer/python_api.h"

#include <stddef.h>
#include <string.h>

#include "tracer/native_elf.h"

#include "tracer/banned.h"

struct python_api python_api;

/* Py_IsFinalizing: 3.13 and later; _Py_IsFinalizing before.  Neither needs the GIL. */
static int (*is_finalizing)(void);
static bool found;

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
	F(PyObject_GetAttr),
	F(PyObject_GetItem),
	F(PyUnicode_InternFromString),
	F(PySequence_GetItem),
	F(PySequence_Size),
	F(PyObject_IsTrue),
	F(PyLong_AsUnsignedLongLong),
	F(PyErr_Occurred),
	F(PyErr_ExceptionMatches),
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
		void *symbol = native_find_anywhere(wanted[i].name);

		if (!symbol)
			return false;
		memcpy((char *)&python_api + wanted[i].offset, &symbol, sizeof(symbol));
	}
	python_api.none = native_find_anywhere("_Py_NoneStruct");
	python_api.exception = native_find_anywhere("PyExc_Exception");
	is_finalizing = (int (*)(void))native_find_anywhere("Py_IsFinalizing");
	if (!is_finalizing)
		is_finalizing = (int (*)(void))native_find_anywhere("_Py_IsFinalizing");
	found = python_api.none && python_api.exception && is_finalizing;
	return found;
}

void python_api_clear_own_error(void)
{
	if (python_api.PyErr_Occurred() && python_api.PyErr_ExceptionMatches(*python_api.exception))
		python_api.PyErr_Clear();
}

bool python_api_finalizing(void)
{
	return !found || is_finalizing();
}
