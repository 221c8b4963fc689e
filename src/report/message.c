#include "report/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int message_set(struct message *message, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(message->text, sizeof(message->text), format, list);
	va_end(list);
	return -1;
}

int message_errno(struct message *message, const char *format, ...)
{
	int error = errno;
	size_t used;
	va_list list;

	va_start(list, format);
	vsnprintf(message->text, sizeof(message->text), format, list);
	va_end(list);
	used = strlen(message->text);
	snprintf(message->text + used, sizeof(message->text) - used, ": %s", strerror(error));
	return -1;
}
