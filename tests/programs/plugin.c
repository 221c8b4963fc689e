/*
 * Two libraries of this are made: laid out alike to the byte, but for the size of a frame.
 * Where one was, the other has its calls at the same addresses.
 */
#include "plugin.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT plugin_function PLUGIN_NAME;

EXPORT void PLUGIN_NAME(void (*perform)(void *data), void *data)
{
	volatile char room[PLUGIN_ROOM];

	room[0] = 1;
	perform(data);
	room[PLUGIN_ROOM - 1] = room[0];
}
