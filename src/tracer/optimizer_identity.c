#include "tracer/optimizer_identity.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "tracer/hash.h"

#include "tracer/banned.h"

enum {
	RECENT = 8 /* optimizers; more than step in turn in most programs */
};

/* Written by optimizer_identity_open(), read-only then; NULL: not to be had. */
static PyObject *entry_function;
static PyObject *param_groups, *params; /* the names, as Python's text */

/* One thread at a time looks at those below; the others ask agent.py, which knows all. */
static atomic_flag busy = ATOMIC_FLAG_INIT;

static struct recent {
	const PyObject *optimizer; /* only for comparing */
	PyObject *reference;	   /* owned: a weak one to it */
	uint64_t number;
} recents[RECENT];
static unsigned next_recent;

void optimizer_identity_open(PyObject *entry)
{
	python_api.Py_IncRef(entry);
	entry_function = entry;
	param_groups = python_api.PyUnicode_InternFromString("param_groups");
	params = python_api.PyUnicode_InternFromString("params");
	python_api_clear_own_error();
}

void optimizer_identity_forget(void)
{
	atomic_flag_clear(&busy);
}

/* What the weak reference leads to is the very object. */
static bool refers_to(const struct recent *recent, const PyObject *optimizer)
{
	PyObject *now = python_api.PyObject_CallFunctionObjArgs(recent->reference, NULL);
	bool same = now == optimizer;

	if (!now)
		python_api_clear_own_error();
	python_api_drop(now);
	return same;
}

/* 0: not seen lately. */
static uint64_t recall(const PyObject *optimizer)
{
	uint64_t number = 0;

	if (atomic_flag_test_and_set(&busy))
		return 0;
	for (unsigned i = 0; i < RECENT && !number; i++)
		if (recents[i].optimizer == optimizer && refers_to(&recents[i], optimizer))
			number = recents[i].number;
	atomic_flag_clear(&busy);
	return number;
}

static void remember(const PyObject *optimizer, PyObject *reference, uint64_t number)
{
	PyObject *before;

	if (atomic_flag_test_and_set(&busy))
		return;
	before = recents[next_recent % RECENT].reference;
	python_api.Py_IncRef(reference);
	recents[next_recent++ % RECENT] = (struct recent){optimizer, reference, number};
	atomic_flag_clear(&busy);
	python_api_drop(before);
}

/* Of agent.py's table; 0 where that can't be had. */
static uint64_t ask(PyObject *optimizer)
{
	PyObject *entry = python_api.PyObject_CallFunctionObjArgs(entry_function, optimizer, NULL);
	PyObject *reference = entry ? python_api.PyTuple_GetItem(entry, 0) : NULL;
	PyObject *number = reference ? python_api.PyTuple_GetItem(entry, 1) : NULL;
	uint64_t result = number ? python_api.PyLong_AsUnsignedLongLong(number) : 0;

	if (number)
		remember(optimizer, reference, result);
	else
		python_api_clear_own_error();
	python_api_drop(entry);
	return result;
}

/* Its address where nothing better is known. */
static uint64_t number_of(PyObject *optimizer)
{
	uint64_t number = recall(optimizer);

	if (!number && entry_function)
		number = ask(optimizer);
	return number ? number : (uintptr_t)optimizer;
}

/* New reference, or NULL. */
static PyObject *first_parameter(PyObject *optimizer, long *groups)
{
	PyObject *all = param_groups ? python_api.PyObject_GetAttr(optimizer, param_groups) : NULL;
	PyObject *group = NULL, *of_group = NULL, *parameter = NULL;

	if (all) {
		*groups = python_api.PySequence_Size(all);
		group = python_api.PySequence_GetItem(all, 0);
	}
	if (group && params)
		of_group = python_api.PyObject_GetItem(group, params);
	if (of_group)
		parameter = python_api.PySequence_GetItem(of_group, 0);
	python_api_drop(all);
	python_api_drop(group);
	python_api_drop(of_group);
	return parameter;
}

uint64_t optimizer_identity(PyObject *optimizer, long *groups)
{
	PyObject *parameter = first_parameter(optimizer, groups);

	python_api_clear_own_error(); /* also one beside a parameter: no error may stay set */
	python_api_drop(parameter);
	return hash_mix(number_of(optimizer), (uintptr_t)parameter);
}
