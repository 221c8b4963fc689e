/* CUPTI: may be switched on, and never has anything to tell. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "sim/standin.h"

enum {
	NO_MORE_RECORDS = 12,
	VERSION = SIM_MAJOR == 12 ? 26 : 130200
};

SIM_EXPORT int cuptiGetVersion(uint32_t *version)
{
	*version = VERSION;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuptiGetResultString(int result, const char **text)
{
	*text = result ? "CUPTI error of the simulated GPU" : "CUPTI_SUCCESS";
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuptiSubscribe(void **subscriber)
{
	static char one;

	*subscriber = &one;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuptiGetCallbackName(int domain, uint32_t number, const char **name)
{
	(void)domain;
	(void)number;
	*name = "";
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuptiActivityGetNextRecord(void *buffer, size_t size, void **record)
{
	(void)buffer;
	(void)size;
	*record = NULL;
	return NO_MORE_RECORDS;
}

SIM_EXPORT int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *count)
{
	(void)context;
	(void)stream;
	*count = 0;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuptiActivityPopExternalCorrelationId(int kind, uint64_t *last)
{
	(void)kind;
	if (last)
		*last = 0;
	return GPUSIM_SUCCESS;
}

SIM_EXPORT int cuptiGetTimestamp(uint64_t *time)
{
	*time = 0;
	return GPUSIM_SUCCESS;
}
